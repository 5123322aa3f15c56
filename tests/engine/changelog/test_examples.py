"""The page that says what changelogs are, run by kernels: figures 2 to 7 of APAS among its examples, row by row."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engine.changelog.running import answer_of, ran

from slackwater.algebra.nodes import Emit, Mode, walk
from slackwater.app.testing.answers import EngineAnswers, tables_of
from slackwater.app.testing.case import QueryCase
from slackwater.app.testing.case_reader import read_cases
from slackwater.app.testing.differences import differences
from slackwater.app.testing.page import load_page

PAGE = Path(__file__).parents[3] / "docs" / "semantics.md"
CHANGES = [
    example
    for example in read_cases(load_page(PAGE))
    if any(isinstance(node, Emit) and node.mode is Mode.CHANGES for node in walk(example.plan))
]


@pytest.mark.parametrize("example", CHANGES, ids=lambda example: example.title)
def test_the_changelog_is_the_one_worked_out_by_hand(example: QueryCase):
    found = ran(example.plan, example.feeds, example.flush)
    tables = tables_of(example, answer_of(example.plan, found))
    assert differences(example, EngineAnswers(tables)) == []


def test_the_figures_are_among_them():
    titles = " ".join(each.title for each in CHANGES)
    assert all(f"figure {number}" in titles for number in (2, 5, 6, 7))
    assert "figures 3 and 4" in titles
