"""The page that says what queries mean is run, line by line."""

from pathlib import Path

import pytest

from slackwater.app.testing.page import load_page
from slackwater.app.testing.run import run_block

PAGE = load_page(Path(__file__).parents[2] / "docs" / "semantics.md")


@pytest.mark.parametrize("block", PAGE.blocks, ids=lambda block: block.title)
def test_the_answer_is_the_one_worked_out_by_hand(block):
    outcome = run_block(PAGE, block)
    assert outcome.passed, outcome.report().plain


def test_every_block_of_the_page_is_an_example_that_is_run():
    assert len(PAGE.blocks) == PAGE.text.count("```example\n") >= 40
    assert len({block.title for block in PAGE.blocks}) == len(PAGE.blocks)
    assert not any(block.title.endswith("(2)") for block in PAGE.blocks)
