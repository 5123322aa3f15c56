"""Declarations are found without regard to case, and errors name the nearest."""

from dataclasses import replace

import pytest

from slackwater.algebra.catalog import Catalog, Pipeline, SinkDef, StreamDef, ViewDef
from slackwater.algebra.nodes import Disorder, Emit, Join, Policy, Scan
from slackwater.algebra.schema import Field
from slackwater.algebra.sides import side_streams, with_sides
from slackwater.errors import QueryError

FIELDS = (Field("id", "int"), Field("t", "timestamp"), Field("r", "timestamp_ntz"))
TRAFFIC = StreamDef("Traffic", FIELDS, "json", {}, "t", "r", "id", None, ("id",))
CATALOG = Catalog().with_stream(TRAFFIC).with_sink(SinkDef("out", "console")).with_stream(StreamDef("Bare", FIELDS[:1]))


def code_of(call, *arguments: object) -> str:
    with pytest.raises(QueryError) as caught:
        call(*arguments)
    return caught.value.code


def test_names_are_found_without_regard_to_case():
    assert CATALOG.source("traffic") is TRAFFIC
    assert CATALOG.sink("OUT").name == "out"


def test_unknown_names_name_the_nearest():
    with pytest.raises(QueryError, match="there is no stream or view 'Trafic'") as caught:
        CATALOG.source("Trafic")
    assert caught.value.problem.hint == "did you mean 'Traffic'?"
    assert code_of(CATALOG.sink, "in") == "SW-208"
    assert "CREATE STREAM" in _hint(Catalog().source)
    assert "CREATE SINK" in _hint(Catalog().sink)


def _hint(call) -> str:
    with pytest.raises(QueryError) as caught:
        call("x")
    return caught.value.problem.hint


def test_names_are_declared_once():
    view = ViewDef("TRAFFIC", (), Emit(_scan()))
    assert code_of(CATALOG.with_view, view) == "SW-207"
    assert code_of(CATALOG.with_stream, StreamDef("traffic", ())) == "SW-207"
    assert code_of(CATALOG.with_sink, SinkDef("Out", "console")) == "SW-207"
    assert CATALOG.with_sink(SinkDef("Traffic", "console")).sink("traffic").format == "console"


@pytest.mark.parametrize("name", ["", "a.b", "a`b", "a\nb", "/a", "a\\b"])
def test_names_hold_no_dots_and_no_slashes(name: str):
    assert code_of(CATALOG.with_stream, StreamDef(name, ())) == "SW-219"


def _scan(event_time: str = "t") -> Scan:
    return Scan("Traffic", "T", FIELDS, event_time, "r", "id", None, ("id",))


def test_a_scan_is_filled_from_its_stream():
    assert CATALOG.fill(Scan("TRAFFIC", "T", (), "")) == _scan()
    assert CATALOG.fill(Scan("TRAFFIC", "T", (), "R")) == _scan("r")
    assert CATALOG.fill(Scan("TRAFFIC", "", (), "")).alias == "Traffic"


def test_clocks_are_timestamps():
    assert code_of(CATALOG.fill, Scan("Traffic", "T", (), "id")) == "SW-210"
    assert code_of(CATALOG.fill, Scan("Traffic", "T", (), "x")) == "SW-201"
    assert code_of(CATALOG.fill, Scan("Bare", "T", (), "")) == "SW-209"


def test_a_view_is_no_stream():
    catalog = CATALOG.with_view(ViewDef("v", (), Emit(_scan())))
    assert code_of(catalog.fill, Scan("v", "v", (), "")) == "SW-204"


def test_late_rows_say_by_how_much_and_what_they_missed():
    late, _ = side_streams(Pipeline("q", None, Emit(Disorder(_scan(), Policy()))))
    origin = {"pipeline": "q", "stream": "Traffic"}
    assert (late.name, late.event_time, late.options) == ("q$late", "t", origin)
    assert [field.name for field in late.fields] == ["id", "t", "r", "late_by", "punctuation", "windows_missed"]


def test_a_changelog_has_refused_rows_too():
    scan = replace(_scan(), change_type="id")
    *_, refused = side_streams(Pipeline("q", None, Emit(Disorder(scan, Policy()))))
    assert (refused.name, refused.event_time, refused.change_type) == ("q$refused", "t", None)
    assert [field.name for field in refused.fields] == ["id", "t", "r", "refusal"]
    assert len(side_streams(Pipeline("q", None, Emit(Disorder(_scan(), Policy()))))) == 2


def test_the_sides_of_a_pipeline_are_found_by_its_name_and_by_that_of_its_stream():
    plan = Emit(Disorder(_scan(), Policy()))
    one = with_sides(CATALOG, Pipeline("q", None, plan))
    assert one.source("Q$late") is one.source("traffic$LATE")
    assert one.source("Traffic$rejected").name == "q$rejected"
    two = with_sides(one, Pipeline("r", None, plan))
    assert two.source("r$late").name == "r$late"
    with pytest.raises(QueryError, match=r"2 pipelines read 'Traffic'") as caught:
        two.source("Traffic$late")
    assert (caught.value.code, caught.value.problem.expected) == ("SW-228", "q$late or r$late")


def test_late_rows_have_no_late_rows():
    late = with_sides(CATALOG, Pipeline("q", None, Emit(Disorder(_scan(), Policy()))))
    scan = late.fill(Scan("q$late", "", (), ""))
    assert with_sides(late, Pipeline("lateness", None, Emit(Disorder(scan, Policy())))) == late


def test_each_stream_of_a_pipeline_over_several_has_late_rows_of_its_own():
    other = Scan("Other", "O", FIELDS[:2], "t")
    catalog = with_sides(CATALOG, Pipeline("q", None, Emit(Join(_scan(), other))))
    assert [len(catalog.source(f"q${name}$late").fields) for name in ("traffic", "Other")] == [6, 5]
    assert catalog.source("Other$rejected").name == "q$Other$rejected"
    with pytest.raises(QueryError, match="the pipeline 'q' reads 2 streams") as caught:
        catalog.source("q$late")
    assert (caught.value.code, caught.value.problem.expected) == ("SW-228", "q$Traffic$late or q$Other$late")
