"""What a plan document may say."""

import json
from typing import Any

import pytest

import slackwater as sw
from slackwater.app.plans.documents import script_of
from slackwater.errors import QueryError

TEXT = """
CREATE STREAM Pulse (Id INT, Timestamp TIMESTAMP) USING generate OPTIONS (stream 'pulses') TIMESTAMP BY Timestamp;
CREATE SINK Out USING noop;
INSERT INTO Out SELECT Id FROM Pulse;
"""


def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(sw.explain(TEXT, format="json"))
    return found


def refused(given: dict[str, Any]) -> str:
    with pytest.raises(QueryError) as caught:
        script_of(given)
    return caught.value.code


@pytest.mark.parametrize("part", ["pipelines", "streams", "sinks"])
@pytest.mark.parametrize("name", ["/elsewhere/checkpoint", "../elsewhere", "..", "a\\b", ""])
def test_a_name_is_no_path_as_a_checkpoint_is_named_after_it(part: str, name: str):
    given = document()
    given[part][0]["name"] = name
    assert refused(given) == "SW-219"


def test_a_plan_alone_is_named_after_its_file_whatever_that_is_called_and_not_after_a_path():
    given = {**document(), "plan": document()["pipelines"][0]["plan"]}
    assert script_of(given, "tolls.v2").pipelines[0].name == "tolls.v2"
    assert refused({**given, "name": "../elsewhere"}) == "SW-219"


@pytest.mark.parametrize("part", ["streams", "sinks"])
def test_a_name_is_declared_once(part: str):
    given = document()
    given[part].append(given[part][0])
    assert refused(given) == "SW-207"


@pytest.mark.parametrize("kind", [5, None, ["int"]])
def test_a_type_that_is_no_text_is_refused(kind: object):
    given = document()
    given["streams"][0]["fields"]["Id"] = kind
    assert refused(given) == "SW-166"
