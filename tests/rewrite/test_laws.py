"""docs/laws.md: the laws that do not hold are refuted as printed, and those that hold are the rules."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from slackwater.lang import parse_script
from slackwater.rewrite import RULES
from slackwater.semantics import Batch, Feed, interpret
from slackwater.testing.examples import DECLARATIONS, Example, read_example

PAGE = (Path(__file__).parents[2] / "docs" / "laws.md").read_text()
SECTION = re.compile(r"^### ([^\n]+)\n(.*?)(?=^### |\Z)", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```example\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CATALOG = parse_script("\n".join(DECLARATIONS.findall(PAGE))).catalog
REFUTED = {
    title: [read_example(title, body, CATALOG) for body in BLOCK.findall(text)] for title, text in SECTION.findall(PAGE)
}


def result(side: Example, feeds: dict[str, Feed]) -> object:
    answer = interpret(side.plan, feeds, side.flush)
    return [(row.batch, row.time, tuple(row.row.values())) for row in answer.rows], answer.syncs


def without(feeds: dict[str, Feed], stream: str, position: int) -> dict[str, Feed]:
    """The same feeds without one row."""
    batches, seen = [], 0
    for batch in feeds[stream].batches:
        kept = tuple(row for place, row in enumerate(batch.rows, start=seen) if place != position)
        seen += len(batch.rows)
        batches.append(Batch(kept, batch.punctuation))
    return {**feeds, stream: replace(feeds[stream], batches=tuple(batches))}


@pytest.mark.parametrize("title", REFUTED)
def test_both_sides_answer_as_printed_and_differ(title: str):
    left, right = REFUTED[title]
    assert left.feeds == right.feeds
    for side in (left, right):
        assert side.got(interpret(side.plan, side.feeds, side.flush)) == dict(side.expected)
    assert result(left, left.feeds) != result(right, right.feeds)


@pytest.mark.parametrize("title", REFUTED)
def test_no_row_of_the_counterexample_can_be_spared(title: str):
    left, right = REFUTED[title]
    for stream, feed in left.feeds.items():
        for position in range(sum(len(batch.rows) for batch in feed.batches)):
            fewer = without(dict(left.feeds), stream, position)
            assert result(left, fewer) == result(right, fewer)


def test_every_refuted_law_is_tried():
    assert len(REFUTED) == PAGE.count("\n### ") >= 15
    assert all(len(sides) == 2 for sides in REFUTED.values())


def test_the_laws_that_hold_are_the_rules_in_their_order():
    assert re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE) == [rule.__name__ for rule in RULES]
