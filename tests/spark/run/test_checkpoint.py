"""A checkpoint goes on with its own query only."""

import json
import re
from pathlib import Path

import pytest

from slackwater.algebra.nodes import Plan
from slackwater.errors import RunError
from slackwater.lang import bind_query, parse_script
from slackwater.rewrite import rewrite
from slackwater.spark.run import checkpoint
from slackwater.spark.run.checkpoint import FILE, FORMAT, admit
from slackwater.spark.store import Location
from slackwater.testing.catalog import CATALOG

QUERY = """SELECT id, COUNT(*) AS n, AVG(v) AS mean FROM Readings [RANGE 10 seconds SLIDE 5 seconds DRATIO 1%]
WHERE v > 1 GROUP BY id HAVING COUNT(*) > 2"""
ROWS = "SELECT id, v AS value FROM Readings [RANGE 10 seconds SLIDE 5 seconds] WHERE v > 1"
FUSED = "SELECT id, COUNT(*) AS n FROM Readings [RANGE 10 TUPLES] GROUP BY id HAVING COUNT(*) > 2"


def admitted(text: str, folder: Path) -> None:
    admit(rewrite(bind_query(text, CATALOG)).plan, Location(str(folder)))


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (QUERY, "COUNT(*) AS n, AVG(v) AS mean", "COUNT(*) + 1 AS more, AVG(v) / 2 AS half"),
        (QUERY, "COUNT(*) > 2", "COUNT(*) > 5"),
        (QUERY, "SELECT id, COUNT", "SELECT id, COUNT"),
    ],
)
def test_what_the_checkpoint_does_not_hold_may_change(tmp_path, text, old, new):
    admitted(text, tmp_path)
    admitted(text.replace(old, new), tmp_path)


@pytest.mark.parametrize(
    ("text", "old", "new", "told"),
    [
        (QUERY, "RANGE 10", "RANGE 20", "RANGE of Readings was 10 seconds and is 20 seconds"),
        (QUERY, "SLIDE 5 seconds", "SLIDE 2 seconds", "SLIDE or FREQUENCY of Readings was 5 seconds and is 2 seconds"),
        (QUERY, "v > 1", "v > 2", "WHERE v > 1 of Readings is gone; WHERE v > 2 of Readings is new"),
        (QUERY, "WHERE v > 1", "", "WHERE v > 1 of Readings is gone"),
        (QUERY.replace("WHERE v > 1", ""), "GROUP", "WHERE v > 1 GROUP", "WHERE v > 1 of Readings is new"),
        (QUERY, "DRATIO 1%", "DRATIO 2%", "DRATIO of Readings was 1% and is 2%"),
        (QUERY, "DRATIO 1%", "DRATIO 1% USING adaptive", r"USING of Readings \(adaptive\) is new"),
        (QUERY, "AVG(v)", "MAX(v)", r"AVG\(v\) of Readings is gone; MAX\(v\) of Readings is new"),
        (QUERY, "GROUP BY id", "GROUP BY id, kind", "GROUP BY kind of Readings is new"),
        (
            QUERY,
            "RANGE 10 seconds SLIDE 5 seconds",
            "RANGE 10 TUPLES",
            "RANGE of Readings was 10 seconds and is 10 t.*; SLIDE[^;]*$",
        ),
        (ROWS, "v AS value", "v * 2 AS value", r"the column 'value' of Readings was v and is v \* 2"),
        (FUSED, "> 2", "> 3", "HAVING count > 2 of Readings is gone; HAVING count > 3"),
        (FUSED, " HAVING COUNT(*) > 2", "", "HAVING count > 2 of Readings is gone"),
        (FUSED, "> 2", "> 2 EMIT CHANGES", "EMIT was FINAL and is CHANGES"),
    ],
)
def test_another_query_is_refused_and_told_where_it_differs(tmp_path, text, old, new, told):
    admitted(text, tmp_path)
    with pytest.raises(RunError) as caught:
        admitted(text.replace(old, new), tmp_path)
    assert caught.value.code == "SW-511"
    assert re.search(f"this query: {told}", str(caught.value)), str(caught.value)
    admitted(text, tmp_path)


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ("v INT", None),
        ("v DOUBLE", "the column 'v' of the stream 'Tides' was INT and is DOUBLE"),
        ("v INT, w INT", "the column 'w' of the stream 'Tides' .INT. is new"),
        ("w INT, v INT", "the column 'w' of the stream 'Tides' .INT. is new"),
    ],
)
def test_a_stream_that_is_declared_otherwise_is_named_with_its_column(tmp_path, declared, told):
    """Also where the types of all that is computed from it differ with it."""

    def plan(columns: str) -> Plan:
        stream = f"CREATE STREAM Tides ({columns}, ts TIMESTAMP) USING json OPTIONS (path '/x') TIMESTAMP BY ts;"
        query = "SELECT MAX(v) AS top, SUM(v) AS total FROM Tides [RANGE 1 minute SLIDE 1 minute];"
        return rewrite(parse_script(stream + query).pipelines[0].plan).plan

    admit(plan("v INT"), Location(str(tmp_path)))
    if told is None:
        admit(plan(declared), Location(str(tmp_path)))
        return
    with pytest.raises(RunError, match=told) as caught:
        admit(plan(declared), Location(str(tmp_path)))
    assert "fields" not in str(caught.value)


def test_a_checkpoint_carries_its_format_and_a_newer_one_is_refused(tmp_path):
    admitted(QUERY, tmp_path)
    record = json.loads((tmp_path / FILE).read_text())
    assert record["format"] == FORMAT
    unnumbered = {name: value for name, value in record.items() if name != "format"}
    (tmp_path / FILE).write_text(json.dumps(unnumbered))
    admitted(QUERY, tmp_path)
    (tmp_path / FILE).write_text(json.dumps({**record, "format": FORMAT + 1}))
    with pytest.raises(RunError, match=f"SW-524: .* has format {FORMAT + 1}"):
        admitted(QUERY, tmp_path)


def test_entries_of_a_source_are_left_where_its_log_is_not_known(tmp_path, monkeypatch):
    admitted(QUERY, tmp_path)
    (tmp_path / "sources" / "0").mkdir(parents=True)
    (tmp_path / "sources" / "0" / "0").write_text(TAKEN)
    monkeypatch.setattr(checkpoint, "INSTALLED", (4, 9))
    admitted(QUERY, tmp_path)
    assert (tmp_path / "sources" / "0" / "0").exists()
    monkeypatch.setattr(checkpoint, "INSTALLED", (4, 0))
    (tmp_path / "sources" / "0" / "1.compact").write_text(TAKEN)
    admitted(QUERY, tmp_path)
    assert [each.name for each in (tmp_path / "sources" / "0").iterdir()] == ["1.compact"]


def test_a_record_of_another_version_is_no_licence(tmp_path):
    (tmp_path / FILE).write_text("{}")
    with pytest.raises(RunError, match="another version"):
        admitted(QUERY, tmp_path)


@pytest.mark.parametrize("found", ["", '{"slackwater": 1, "pla'])
def test_a_torn_record_is_no_licence(tmp_path, found):
    (tmp_path / FILE).write_text(found)
    with pytest.raises(RunError, match="torn"):
        admitted(QUERY, tmp_path)


def test_a_checkpoint_of_something_else_is_refused(tmp_path):
    (tmp_path / "offsets").mkdir()
    with pytest.raises(RunError, match="made by something else"):
        admitted(QUERY, tmp_path)


LOGGED = 'v1\n{"batchWatermarkMs":0}\n{"logOffset":1}\n-'
TAKEN = 'v1\n{"path":"file:///in/0.parquet","timestamp":0,"batchId":0}'


@pytest.mark.parametrize(
    ("logs", "sources", "left"),
    [
        ({"offsets/0": LOGGED}, {"0/0": TAKEN, "0/1": TAKEN, "0/2": TAKEN, "1/0": TAKEN}, {"0/0", "0/1"}),
        ({}, {"0/0": TAKEN}, set()),
        ({"commits/0": "v1"}, {"0/0": TAKEN}, {"0/0"}),
        ({}, {"0/0": "0"}, {"0/0"}),
        ({"offsets/0": LOGGED.replace("logOffset", "topic")}, {"0/5": TAKEN}, {"0/5"}),
        ({"offsets/0": LOGGED[:-5]}, {"0/5": TAKEN, "1/0": TAKEN}, {"0/5", "1/0"}),
    ],
    ids=[
        "beyond the batch",
        "before any batch",
        "a lost log",
        "of another source",
        "other offsets",
        "a torn log",
    ],
)
def test_files_of_a_batch_that_was_not_logged_are_taken_back(tmp_path, logs, sources, left):
    admitted(QUERY, tmp_path)
    for name, text in (logs | {f"sources/{each}": text for each, text in sources.items()}).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    admitted(QUERY, tmp_path)
    found = {str(each.relative_to(tmp_path / "sources")) for each in (tmp_path / "sources").glob("*/*")}
    assert found == left


@pytest.mark.parametrize("below", ["", "deeper"])
def test_a_checkpoint_that_is_a_file_is_told(tmp_path, below):
    file = tmp_path / "check"
    file.write_text("")
    with pytest.raises(RunError, match="is a file") as caught:
        admitted(QUERY, file / below)
    assert caught.value.code == "SW-517"


@pytest.mark.parametrize("found", ["", "{}", "[]", '{"id"'])
def test_a_checkpoint_that_does_not_say_which_query_it_is_of_is_told(tmp_path, found):
    admitted(QUERY, tmp_path)
    (tmp_path / "metadata").write_text('{"id":"0badcafe"}')
    admitted(QUERY, tmp_path)
    (tmp_path / "metadata").write_text(found)
    with pytest.raises(RunError, match="is torn") as caught:
        admitted(QUERY, tmp_path)
    assert caught.value.code == "SW-518"
