"""Metrics as Prometheus reads them: parsed by its own parser, and equal to what the run counted."""

import re
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families
from tests.dashboard.records import records

from slackwater.app.monitor.board import Board
from slackwater.app.monitor.metrics import COUNTER, DELAY, DOCUMENTED, scrape


def scraped(board: Board) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    families = [*text_string_to_metric_families(scrape(board).decode())]
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def test_every_metric_is_there_documented_and_equal_to_the_last_record():
    board = Board()
    for name in ("fastest", 'odd "name"\n'):
        for record in records(name):
            board.enter(record)
    found = scraped(board)
    (stream,) = record["streams"]
    labels = {"pipeline": 'odd "name"\n', "stream": "Traffic"}
    for outcome in ("on_time", "late", "rejected"):
        key = "slackwater_rows_total", frozenset({**labels, "outcome": outcome}.items())
        assert found[key] == stream[outcome]
    own = {name: value for (name, given), value in found.items() if given == frozenset(labels.items())}
    assert own["slackwater_late_ratio"] == record["ratio"] and own["slackwater_late_ratio_allowed"] == 0.02
    assert own["slackwater_watermark_lag_seconds"] == (stream["clock"] - stream["punctuation"]) / 1_000
    names = {name.removesuffix("_total") for name, _ in found}
    assert set(DOCUMENTED) <= names
    buckets = [value for (name, _), value in found.items() if name == f"{DELAY}_bucket"]
    assert max(buckets) == 120 * 200 and min(buckets) >= 0


def test_names_follow_the_conventions_and_have_a_help_text():
    for name, (_, said, labels) in DOCUMENTED.items():
        assert re.fullmatch(r"slackwater_[a-z_]+", name) and said.endswith(".") and labels[0] == "pipeline"


def test_a_pipeline_without_a_batch_is_up_and_says_no_more():
    board = Board()
    board.enter({"kind": "pipeline", "pipeline": "new"})
    assert scraped(board) == {("slackwater_pipeline_up", frozenset({("pipeline", "new")})): 1.0}


def test_the_page_about_monitoring_has_every_metric_as_it_is():
    page = (Path(__file__).parents[3] / "docs" / "monitoring.md").read_text()
    for name, (kind, said, labels) in DOCUMENTED.items():
        shown = f"{name}_total" if kind is COUNTER else name
        assert f"| `{shown}` | {', '.join(f'`{each}`' for each in labels)} | {said} |" in page
