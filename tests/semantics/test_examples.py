"""The page that says what queries mean is run, line by line."""

from pathlib import Path

import pytest

from slackwater.semantics import interpret
from slackwater.testing.examples import Example, read_examples

PAGE = Path(__file__).parents[2] / "docs" / "semantics.md"
EXAMPLES = read_examples(PAGE.read_text())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.title)
def test_the_answer_is_the_one_worked_out_by_hand(example: Example):
    answer = interpret(example.plan, example.feeds, example.flush)
    assert example.got(answer) == dict(example.expected)


def test_every_block_of_the_page_is_an_example_that_is_run():
    assert len(EXAMPLES) == PAGE.read_text().count("```example\n") >= 40
    assert len({example.title for example in EXAMPLES}) == len(EXAMPLES)
