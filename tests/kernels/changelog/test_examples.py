"""The page that says what changelogs are, run by kernels: figures 2 to 7 of APAS among its examples, row by row."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.kernels.changelog.running import answer_of, ran

from slackwater.algebra.instants import instants_of
from slackwater.algebra.lengths import ONE_TUPLE
from slackwater.algebra.nodes import Emit, Frequency, Mode, Window, walk
from slackwater.errors import QueryError
from slackwater.spark.fused.changelog import changes_of
from slackwater.testing.examples import Example, read_examples

PAGE = Path(__file__).parents[3] / "docs" / "semantics.md"
CHANGES = [
    example
    for example in read_examples(PAGE.read_text())
    if any(isinstance(node, Emit) and node.mode is Mode.CHANGES for node in walk(example.plan))
]


def here(example: Example) -> bool:
    """Whether all windows are ranges in time at every row."""
    windows = [node for node in walk(example.plan) if isinstance(node, Window)]
    jumps = any(isinstance(node, Frequency) for node in walk(example.plan)) or instants_of(example.plan).at_boundaries
    return not jumps and all(node.range.is_time and node.every == ONE_TUPLE for node in windows)


@pytest.mark.parametrize("example", [each for each in CHANGES if here(each)], ids=lambda example: example.title)
def test_the_changelog_is_the_one_worked_out_by_hand(example: Example):
    found = ran(example.plan, example.feeds, example.flush)
    got = example.got(answer_of(example.plan, found))
    assert got == dict(example.expected)


@pytest.mark.parametrize("example", [each for each in CHANGES if not here(each)], ids=lambda example: example.title)
def test_other_windows_are_refused(example: Example):
    with pytest.raises(QueryError, match="SW-363"):
        changes_of(example.plan)


def test_the_figures_are_among_them():
    titles = " ".join(each.title for each in CHANGES if here(each))
    assert all(f"figure {number}" in titles for number in (2, 5, 6, 7))
    assert "figures 3 and 4" in titles
