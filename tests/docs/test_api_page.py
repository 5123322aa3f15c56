"""The page of the API: up to date, complete, and every parameter explained."""

import inspect

import pytest
from tests.docs.api_page import FUNCTIONS, PAGE, sections_of, write_page

import slackwater as sw


def test_the_page_is_up_to_date():
    assert PAGE.read_text() == write_page(), "run: python -m tests.docs.pages"


def test_everything_public_is_on_the_page():
    told = {name.split(".")[1] for name in FUNCTIONS} | {"SlackwaterError"}
    assert set(sw.__all__) == told


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_is_explained_and_there_is_an_example(name: str):
    found = sections_of(FUNCTIONS[name])
    told = {
        each.strip("*, ") for line in found["Parameters"].splitlines() if line[:1].strip() for each in line.split(",")
    }
    assert told == set(inspect.signature(FUNCTIONS[name]).parameters)
    assert found["Examples"]
    assert found[""][0].isupper()
