"""What a notebook shows: tables and pictures, with everybody else's text escaped."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from tests.dashboard.records import records

import slackwater as sw
from slackwater.app.live.notebook import watch_html
from slackwater.app.monitor.board import Board
from slackwater.spark.run.progress import Accounts
from slackwater.spark.watermark.punctuate import Account
from slackwater.spark.watermark.statement import Statement

SQL = """
CREATE STREAM S (k INT, v DOUBLE, ts TIMESTAMP) USING rate TIMESTAMP BY ts;
SELECT k, MAX(v) AS top FROM S [RANGE 10 seconds SLIDE 5 seconds DRATIO 1%] WHERE v < 3 GROUP BY k;
"""


def pictures(html: str) -> list[ET.Element]:
    """Return every SVG in a text, parsed as strict XML."""
    parts = html.split("<svg")[1:]
    return [ET.fromstring("<svg" + part[: part.index("</svg>")] + "</svg>") for part in parts]  # noqa: S314 (our own)


def test_a_query_of_the_builder_is_drawn_from_its_source_to_its_result():
    query = sw.scan("Pulse <b>").window(range="1 minute").group("Id").count().frequency(10, by="Id")
    (picture,) = pictures(query._repr_html_())
    said = [each.text for each in picture.iter() if each.tag.endswith("text") and each.text]
    assert {"Scan", "Disorder", "Window", "Aggregate", "Frequency"} <= set(said)
    assert "<b>" not in query._repr_html_()


def test_explain_is_text_and_in_a_notebook_a_picture_above_it():
    said = sw.explain(SQL)
    assert (isinstance(said, str) and said.startswith("result\n")) or "Aggregate" in said
    html = said._repr_html_()
    assert len(pictures(html)) == 1 and "v &lt; 3" in html and "<pre>" in html
    drawing = sw.explain(SQL, format="svg")
    assert drawing._repr_svg_().lstrip().startswith("<?xml") and drawing._repr_png_() is None
    png = sw.explain(SQL, format="png")
    assert png._repr_png_() == png and png._repr_svg_() is None


def test_advice_is_a_table_under_its_sentence(tmp_path):
    rng = np.random.default_rng(5)
    arrival = np.arange(0, 400_000, 100)
    event = arrival - rng.exponential(300, len(arrival)).astype(int)
    trace = tmp_path / "trace.csv"
    trace.write_text("event,arrival\n" + "\n".join(f"{one},{two}" for one, two in zip(event, arrival, strict=True)))
    advice = sw.advise(trace, event="event", arrival="arrival", dratio="2%", unit="ms")
    html = advice._repr_html_()
    assert html.startswith(f"<p><b>{advice.sentence}") or advice.sentence[:20] in html
    assert html.count("<tr>") == 1 + len(advice.lines) and "budget" in html


def test_accounts_are_a_table_with_times_as_times():
    account = Account(punctuation=1_767_225_600_000, rows=1_000, late=7, untimed=3, held_time=1_485_000)
    html = Accounts({"Traffic <b>": Statement.of(account)})._repr_html_()
    for said in ("Traffic &lt;b&gt;", "1,000", "990", "1.50 s", "2026-01-01 00:00:00"):
        assert f">{said}</td>" in html
    assert "9999" not in Accounts({"flushed": Statement.of(Account(punctuation=2**62))})._repr_html_()


def test_the_charts_under_a_cell_show_the_course_of_the_run_and_its_troubles():
    board = Board(clock=lambda: 0.0)
    assert watch_html(board) == "waiting for the first batch ..."
    for each in records("<odd>", 60, allowed=0.0001):
        board.enter(each)
    html = watch_html(board)
    assert len(pictures(html)) == 4 and "&lt;odd&gt;" in html and "<odd>" not in html
    assert "more rows are late than the query allows" in html
    points = [each.get("points") for each in pictures(html)[0].iter() if each.tag.endswith("polyline")]
    assert len(points) == 3 and all(len(each.split()) == 60 for each in points)


def test_the_package_of_the_dashboard_can_be_called():
    assert callable(sw.dashboard) and sw.dashboard.__name__ == "slackwater.dashboard"
    with pytest.raises(AttributeError):
        sw.no_such_name  # noqa: B018
