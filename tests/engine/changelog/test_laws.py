"""Laws of changelog kernels over random plans and streams: replayed as a table, at every point in time, a changelog is
that of the interpreter, however the input is cut into batches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count, pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.changelog.compositions import BINARY, UNARY, compositions, single
from tests.engine.changelog.running import Given, Ran, answer_of, given_by, moments, ran, run, table_at
from tests.law_cases import law_cases
from tests.semantics.endings import ended

from slackwater.algebra.lengths import Kind
from slackwater.algebra.nodes import Mode, Scan, walk
from slackwater.engine.changelog.kernel import ChangelogKernel
from slackwater.engine.columns import state
from slackwater.engine.columns.arrays import EARLIEST, LATEST
from slackwater.errors import QueryError
from slackwater.semantics import Answer, Feed, interpret
from slackwater.spark.planner.fused.changelog import changes_of
from slackwater.testing.plans import Case, Shape, seeded_cases

HOUR = 3_600_000_000
FEW, MANY = settings(max_examples=law_cases(15), deadline=None), settings(max_examples=law_cases(30), deadline=None)
PLAIN = Shape(
    mode=Mode.CHANGES, instants=("stream", "rows"), ranges=(Kind.TIME,), subqueries=False, ordered=False, sync=False
)
EDITED = replace(PLAIN, streams=("Edits", "Edits", "Pulses"))
ONE = replace(PLAIN, joins=False, sets=False, ordered=True)
COUNTED = replace(PLAIN, instants=("rows", "jumps"), ranges=(Kind.TIME, Kind.TUPLES), strict=False)
SLIDING = replace(PLAIN, instants=("boundaries",), joins=False, sets=False, ranges=(Kind.TIME, Kind.TUPLES))
MEETING = replace(PLAIN, instants=("boundaries",), ranges=(Kind.TIME, Kind.TUPLES))
NESTED = replace(PLAIN, instants=("stream", "rows", "jumps"), ranges=(Kind.TIME, Kind.TUPLES), subqueries=True)
WHOLE = Shape(mode=Mode.CHANGES, streams=("Readings", "Events", "Pulses", "Edits"), ordered=False, sync=False)


def has_kernel(case: Case) -> bool:
    """Return whether a plan has a kernel; other plans are refused with a code."""
    try:
        return bool(changes_of(case.plan))
    except QueryError as error:
        assert error.code in ("SW-243", "SW-363")
        return False


OPEN = {
    "streams": seeded_cases(PLAIN, max_rows=12),
    "changelogs": seeded_cases(EDITED, max_rows=12),
    "first and last": seeded_cases(ONE, max_rows=12),
    "windows in tuples, and jumps": seeded_cases(COUNTED, max_rows=12),
    "boundaries": seeded_cases(SLIDING, max_rows=12),
    "boundaries of several streams": seeded_cases(MEETING, max_rows=10).filter(has_kernel),
    "subqueries": seeded_cases(NESTED, max_rows=10).filter(has_kernel),
    "anything": seeded_cases(WHOLE, max_rows=10).filter(has_kernel),
    "compositions": compositions(),
}


def end(case: Case) -> Case:
    """Return the case with a last punctuation after the end of every lifetime."""
    return replace(case, feeds=ended(case.plan, case.feeds))


KINDS = {name: cases.map(end) for name, cases in OPEN.items()}


def check_same(found: Ran, wanted: Answer, upto: int = LATEST) -> None:
    """Check that the tables at every point in time up to one are the same."""
    for time in (each for each in moments(found.changes, wanted.changes) if each <= upto):
        assert table_at(found.changes, time) == table_at(wanted.changes, time)


def check(case: Case) -> None:
    found = ran(case.plan, case.feeds)
    wanted = interpret(case.plan, case.feeds, flush=True)
    check_same(found, wanted)
    assert len(found.changes) <= 1.25 * len(wanted.changes) + 2
    mine = answer_of(case.plan, found)
    assert sorted(map(repr, mine.refused)) == sorted(map(repr, wanted.refused))


@pytest.mark.parametrize("kind", KINDS)
@MANY
@given(data=st.data())
def test_the_changelog_is_what_the_plan_means(kind: str, data: st.DataObject):
    check(data.draw(KINDS[kind]))


@pytest.mark.parametrize("kind", UNARY + BINARY)
def test_every_operator_over_streams_windows_and_changelogs(kind: str):
    cases = [single(kind, seed) for seed in range(20)]
    read = {node.stream for case in cases for node in walk(case.plan) if isinstance(node, Scan)}
    assert {"Edits", "Pulses"} <= read
    for case in cases:
        check(end(case))


@FEW
@given(data=st.data())
def test_a_change_appears_in_the_batch_in_which_the_plan_says(data: st.DataObject):
    """Up to the punctuation: a bound beyond it may be earlier than the interpreter's, the value then comes again."""
    case = data.draw(KINDS["changelogs"])
    found = ran(case.plan, case.feeds)
    wanted = interpret(case.plan, case.feeds, flush=True)
    for batch, (_, marks) in enumerate(given_by(case.plan, case.feeds)):
        mine, theirs = ([each for each in log if each.batch <= batch] for log in (found.changes, wanted.changes))
        for time in (time for time in moments(mine, theirs) if time < min(marks.values())):
            assert table_at(mine, time) == table_at(theirs, time)


@pytest.mark.parametrize("kind", OPEN)
@FEW
@given(data=st.data())
def test_a_flush_takes_time_to_the_newest_row(kind: str, data: st.DataObject):
    check(data.draw(OPEN[kind]))


def with_suspects(case: Case) -> Case:
    """Return the case with every third row of a stream with arrivals stamped an hour after its arrival."""
    clocks = {node.stream: node for node in walk(case.plan) if isinstance(node, Scan)}
    feeds = dict(case.feeds)
    for name, scan in clocks.items():
        if scan.arrival is None or name not in feeds:
            continue
        places = count()
        batches = [
            replace(batch, rows=tuple(_stamped(row, scan, next(places) % 3 == 0) for row in batch.rows))
            for batch in feeds[name].batches
        ]
        feeds[name] = Feed(tuple(batches))
    return replace(case, feeds=feeds)


def _stamped(row: Mapping[str, Any], scan: Scan, suspect: bool) -> Mapping[str, Any]:
    arrival = row.get(scan.arrival or "")
    return {**row, scan.event_time: arrival + HOUR} if suspect and arrival is not None else row


@pytest.mark.parametrize("kind", OPEN)
@FEW
@given(data=st.data())
def test_a_flush_releases_suspect_rows_and_leaves_time_at_the_newest_other(kind: str, data: st.DataObject):
    check(with_suspects(data.draw(OPEN[kind])))


@st.composite
def cut(draw: st.DrawFn, batches: list[Given]) -> list[Given]:
    """Draw the same rows in other batches, some of them empty, with the punctuations between the same rows."""
    made: list[Given] = []
    before = dict.fromkeys(batches[0][1], EARLIEST)
    for rows, marks in batches:
        longest = max(map(len, rows.values()))
        edges = [0, *sorted(draw(st.lists(st.integers(0, longest), max_size=2))), longest]
        parts = [{name: each[start:end] for name, each in rows.items()} for start, end in pairwise(edges)]
        made += [(part, before) for part in parts[:-1]] + [(parts[-1], marks)]
        before = marks
    return made


def told(found: Ran) -> list[tuple[Any, ...]]:
    return [(each.type, *each.row.values(), each.valid_from, each.valid_to) for each in found.changes]


@FEW
@given(data=st.data())
def test_any_cut_into_batches_gives_the_same_changelog(data: st.DataObject):
    case = data.draw(st.one_of(*KINDS.values()))
    kernel, batches = ChangelogKernel(changes_of(case.plan)), given_by(case.plan, case.feeds)
    assert told(run(kernel, batches)) == told(run(kernel, data.draw(cut(batches))))


@FEW
@given(case=st.one_of(*KINDS.values()))
def test_the_size_of_segments_does_not_matter(case: Case):
    whole = told(ran(case.plan, case.feeds))
    sizes = state.MOST, state.FEW
    state.MOST, state.FEW = 3, 0
    try:
        assert told(ran(case.plan, case.feeds)) == whole
    finally:
        state.MOST, state.FEW = sizes


@FEW
@given(case=KINDS["compositions"])
def test_a_step_leaves_the_state_before_it_alone(case: Case):
    """A batch may be run again from the same state, after a failure."""
    kernel, batches = ChangelogKernel(changes_of(case.plan)), given_by(case.plan, case.feeds)
    states = run(kernel, batches, stored=False).states
    before = [{name: state.piece(name) for name in state.names()} for state in states]
    again = run(kernel, batches, stored=False).states
    assert before == [{name: state.piece(name) for name in state.names()} for state in states]
    assert before == [{name: state.piece(name) for name in state.names()} for state in again]
