"""The two pages of the dashboard: all pipelines, and one pipeline. Each fills a Bokeh document and updates it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from bokeh.document import Document
from bokeh.models import Div

from slackwater.app.monitor.board import Board, Followed
from slackwater.app.monitor.words import amount
from slackwater.app.render.svg import leaving, svg
from slackwater.dashboard import fragments
from slackwater.dashboard.charts import Charts
from slackwater.dashboard.style import PAGE, PART, TEMPLATE, THEMES, Theme

EVERY = 1_000
"""Milliseconds between two checks for news. Smaller: more load, but no easier to read."""
IDLE = 5
"""The number of checks after which a page is redrawn without news, to show how long a source is silent."""
CARDS = (
    ("late", "Late share", "Share of rows that came behind the punctuation, against the share that the query allows"),
    ("times", "Clock, newest event and punctuation", "Seconds behind the latest arrival; rows in the band wait"),
    ("delays", "Delays", "From event time to arrival, in seconds; rows right of the punctuation are late"),
    ("holds", "Hold", "How long rows waited from arrival until the punctuation passed them, in seconds"),
    ("rows", "Rows per second", "Read from the sources, and written to the sink"),
    ("batch", "Batch time", "In seconds, by part"),
    ("state", "Rows in state", "Held back until the punctuation passes them, and kept by Spark's operators"),
)
LEGEND = (
    ("native", "Spark's operators", "green"),
    ("fused", "our operators", "violet"),
    ("control", "disorder control", "teal"),
)


def overview(board: Board, document: Document) -> None:
    """Fill a document with the table of all pipelines."""
    theme = _theme(document)
    table = _part("table")
    document.add_root(table)
    _dress(document, theme, "", f'<div class="card wide">{_place("table")}</div>', "")
    _follow(document, board, lambda: _show(table, fragments.overview(board, theme.name)))


def pipeline(board: Board, document: Document) -> None:
    """Fill a document with the charts of the pipeline that the request names."""
    theme, name = _theme(document), _argument(document, "name")
    charts, parts = Charts(theme), {each: _part(each) for each in ("notes", "tiles", "plan", "answers", "late_rows")}
    for root in (*charts.figures(), *parts.values()):
        document.add_root(root)
    _dress(document, theme, name, BODY, "pipeline")

    def show() -> None:
        followed = board.pipelines.get(name)
        if followed is None:
            _show(parts["notes"], '<div class="note">This pipeline has not reported a batch yet.</div>')
            return
        charts.update(followed)
        _show(parts["notes"], fragments.notes(followed, board.clock()))
        _show(parts["tiles"], fragments.tiles(followed) + fragments.holds(followed))
        _show(parts["plan"], plan_of(followed))
        _show(parts["answers"], fragments.answers(followed))
        _show(parts["late_rows"], fragments.late_rows(followed))

    _follow(document, board, show)


def plan_of(followed: Followed) -> str:
    """Return the plan as an SVG picture, with rows per second where these are counted."""
    graph = followed.about.get("graph")
    if not graph:
        return '<div class="empty">The plan of this query is not known.</div>'
    streams = followed.record.get("streams", ())
    share = followed.history.rate("rows_in") / (sum(each["rows"] for each in streams) or 1)
    delivered = {each["stream"]: (share * each["rows"], share * each["on_time"]) for each in streams}
    found = leaving(graph, delivered, followed.history.rate("rows_out"))
    rates = {number: f"{amount(rate)} rows/s" for number, rate in found.items()}
    legend = "".join(f'<span><i style="background:var(--sw-{colour})"></i>{said}</span>' for _, said, colour in LEGEND)
    return f'<div class="legend">{legend}</div>{svg(graph, rates)}'


def _place(name: str) -> str:
    return "{{ embed(roots." + name + ") }}"


def _card(name: str, title: str, about: str, kind: str = "") -> str:
    said = f"<p>{about}</p>" if about else ""
    return f'<section class="card {kind}"><h2>{title}</h2>{said}{_place(name)}</section>'


BODY = (
    f"{_place('notes')}{_place('tiles')}"
    + '<div class="grid" style="margin-top:14px">'
    + "".join(_card(*each) for each in CARDS)
    + _card("plan", "Plan", "", "tall")
    + _card("late_rows", "Latest late rows", "Times are UTC")
    + _card("answers", "Latest answers", "", "wide")
    + "</div>"
)


def _part(name: str) -> Div:
    return Div(name=name, sizing_mode="stretch_width", stylesheets=[PART], margin=0)


def _show(part: Div, html: str) -> None:
    if part.text != html:
        part.text = html


def _dress(document: Document, theme: Theme, here: str, body: str, path: str) -> None:
    """Set the template and title of a document: the page around its parts."""
    other = "light" if theme.name == "dark" else "dark"
    query = {"name": here} if here else {}
    document.template = TEMPLATE.replace("{{ body }}", body)
    document.title = f"{here or 'Pipelines'} · Slackwater"
    document.template_variables.update(
        variables=theme.variables, style=PAGE, here=here, home=f"./?{urlencode({'theme': theme.name})}", other=other,
        other_url=f"{path or './'}?{urlencode({**query, 'theme': other})}", heading=here or "Pipelines",
    )  # fmt: skip


def _follow(document: Document, board: Board, show: Callable[[], None]) -> None:
    """Call `show` now, and again whenever the board has changed."""
    seen = {"version": -1, "looks": 0}

    def look() -> None:
        seen["looks"] += 1
        if board.version != seen["version"] or seen["looks"] % IDLE == 0:
            seen["version"] = board.version
            show()

    look()
    document.add_periodic_callback(look, EVERY)


def _theme(document: Document) -> Theme:
    return THEMES.get(_argument(document, "theme"), THEMES["light"])


def _argument(document: Document, name: str) -> str:
    """Return an argument of the request, empty if it is missing. Bokeh has each as a list of bytes."""
    context: Any = document.session_context
    found = context.request.arguments.get(name, [b""]) if context and context.request else [b""]
    return found[-1].decode(errors="replace")
