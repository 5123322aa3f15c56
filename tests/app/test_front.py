"""One query, written in every way that is accepted, is one plan."""

import json
from pathlib import Path

import pytest

import slackwater as sw
from slackwater.app.front import script_from
from slackwater.errors import InputError, QueryError, RunError

DECLARED = """
CREATE STREAM Pulse (Id INT, Timestamp TIMESTAMP) USING generate OPTIONS (stream 'pulses') TIMESTAMP BY Timestamp;
"""
TEXT = "SELECT Id, COUNT(*) AS count [FREQUENCY 10 TUPLES PARTITIONED BY Id] FROM Pulse [RANGE 1 MINUTE] GROUP BY Id"


def built() -> object:
    query = sw.scan("Pulse").window(range="1 minute").group("Id").count().frequency(10, by="Id")
    return query.select("Id", "count")


def test_the_builder_makes_the_plan_that_the_text_makes():
    assert script_from(built(), DECLARED).pipelines[0].plan == script_from(TEXT, DECLARED).pipelines[0].plan


def test_a_document_makes_it_too(tmp_path: Path):
    document = json.loads(sw.explain(TEXT, DECLARED, format="json"))
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(document))
    expected = script_from(TEXT, DECLARED).pipelines[0].plan
    assert script_from(document).pipelines[0].plan == expected
    assert script_from(file).pipelines[0].plan == expected
    assert script_from(document["pipelines"][0], DECLARED).pipelines[0].plan == expected


def test_rewrites_are_explained():
    shown = sw.explain(built(), DECLARED, rewrites=True)
    assert "push_frequencies_below_aggregates" in shown
    assert "Window RANGE 1 minute EVERY 10 tuples partitioned by Id" in shown


@pytest.mark.parametrize(("form", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_a_picture_is_what_the_command_writes(form: str, start: bytes):
    alone, both = (sw.explain(TEXT, DECLARED, format=form, rewrites=rewrites) for rewrites in (False, True))
    assert alone.startswith(start)
    assert len(both) > len(alone)


def test_a_form_that_there_is_not_is_refused():
    with pytest.raises(InputError, match="SW-415") as caught:
        sw.explain(TEXT, DECLARED, format="sgv")
    assert "did you mean 'svg'?" in str(caught.value)


def test_a_plan_is_checked_however_it_was_written():
    unfinished = sw.scan("Pulse").group("Id").count()
    with pytest.raises(QueryError, match="SW-230"):
        script_from(unfinished, DECLARED)
    with pytest.raises(QueryError, match="SW-204"):
        script_from(sw.scan("Puls").window(range="1 minute"), DECLARED)


def test_nothing_to_run_is_an_error(tmp_path: Path):
    with pytest.raises(InputError, match="SW-406"):
        sw.run(DECLARED, checkpoint=tmp_path)


def test_a_checkpoint_in_a_store_that_cannot_be_reached_is_refused(spark):
    for address in ("neap://bucket/tides", "file://elsewhere/tides"):
        with pytest.raises(RunError, match="SW-525"):
            sw.run(DECLARED + TEXT, checkpoint=address)


def test_names_are_there_and_others_are_not():
    assert set(sw.__all__) <= set(dir(sw))
    assert all(getattr(sw, name) for name in sw.__all__)
    with pytest.raises(AttributeError, match="no attribute 'flow'"):
        _ = sw.flow
