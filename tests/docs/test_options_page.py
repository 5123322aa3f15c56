"""The page of sources and sinks says what the code checks."""

import pytest
from tests.docs.options_page import PAGE, SINK_TABLES, SOURCE_TABLES, example_of, write_page

OPTIONS = [
    pytest.param(option, id=f"{table.name} {option.name}")
    for table in (*SOURCE_TABLES, *SINK_TABLES)
    for option in table.options
]


def test_the_page_is_up_to_date():
    assert PAGE.read_text() == write_page(), "run: python -m tests.docs.pages"


@pytest.mark.parametrize("option", OPTIONS)
def test_examples_are_values_that_the_option_takes(option):
    option.parse(example_of(option))
