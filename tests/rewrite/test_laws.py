"""docs/laws.md: the laws that do not hold are refuted as printed, and those that hold are the rules."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from slackwater.app.testing.answers import answer_by_interpreter
from slackwater.app.testing.case import QueryCase
from slackwater.app.testing.case_reader import read_cases
from slackwater.app.testing.differences import differences
from slackwater.app.testing.page import load_page
from slackwater.rewrite import RULES
from slackwater.semantics import Feed, FeedBatch, interpret

PAGE = load_page(Path(__file__).parents[2] / "docs" / "laws.md")
REFUTED: dict[str, list[QueryCase]] = {}
for case in read_cases(PAGE):
    REFUTED.setdefault(case.title.removesuffix(" (2)"), []).append(case)


def result(side: QueryCase, feeds: dict[str, Feed]) -> object:
    answer = interpret(side.plan, feeds, side.flush)
    return [(row.batch, row.time, tuple(row.row.values())) for row in answer.rows], answer.syncs


def without(feeds: dict[str, Feed], stream: str, position: int) -> dict[str, Feed]:
    """Return the same feeds without one row."""
    batches, seen = [], 0
    for batch in feeds[stream].batches:
        kept = tuple(row for place, row in enumerate(batch.rows, start=seen) if place != position)
        seen += len(batch.rows)
        batches.append(FeedBatch(kept, batch.punctuation))
    return {**feeds, stream: replace(feeds[stream], batches=tuple(batches))}


@pytest.mark.parametrize("title", REFUTED)
def test_both_sides_answer_as_printed_and_differ(title: str):
    left, right = REFUTED[title]
    assert left.feeds == right.feeds
    for side in (left, right):
        assert differences(side, answer_by_interpreter(side)) == []
    assert result(left, left.feeds) != result(right, right.feeds)


@pytest.mark.parametrize("title", REFUTED)
def test_no_row_of_the_counterexample_can_be_spared(title: str):
    left, right = REFUTED[title]
    for stream, feed in left.feeds.items():
        for position in range(sum(len(batch.rows) for batch in feed.batches)):
            fewer = without(dict(left.feeds), stream, position)
            assert result(left, fewer) == result(right, fewer)


def test_every_refuted_law_is_tried():
    assert len(REFUTED) == PAGE.text.count("\n### ") >= 15
    assert all(len(sides) == 2 for sides in REFUTED.values())


def test_the_laws_that_hold_are_the_rules_in_their_order():
    assert re.findall(r"^\| `(\w+)` \|", PAGE.text, re.MULTILINE) == [rule.__name__ for rule in RULES]
