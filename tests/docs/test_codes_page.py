"""The page of codes: up to date, and with every code of the source."""

import pytest
from tests.docs.codes_page import PAGE, found_codes, write_page
from tests.test_codes import raised

pytestmark = pytest.mark.long


def test_the_page_is_up_to_date():
    assert PAGE.read_text() == write_page(), "run: python -m tests.docs.pages"


def test_every_code_is_on_the_page():
    examples = {"SW-400"}  # of a doctest
    assert set(raised()) - set(found_codes()) == examples
