"""Laws that hold for every plan over every stream."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.law_cases import law_cases

from slackwater.algebra.lengths import ONE_TUPLE, Kind
from slackwater.algebra.nodes import Aggregate, Emit, Frequency, Mode, Plan, Window, inputs, walk, with_inputs
from slackwater.algebra.properties.monotonicity import Class, class_of
from slackwater.semantics import Answer, Feed, interpret
from slackwater.semantics.values import orders
from slackwater.testing.plans import Case, Shape, seeded_cases
from slackwater.testing.streams import recut

ONE_STREAM = Shape(streams=("Readings",))
IN_TIME = Shape(ranges=(Kind.TIME,))
LAW = settings(max_examples=law_cases(150), deadline=None)


def told(answer: Answer) -> list:
    """Return the rows, syncs and changes of an answer without their batches."""
    rows = [(row.time, orders(row.row.values())) for row in answer.rows]
    changes = [(each.type, each.valid_from, each.valid_to, orders(each.row.values())) for each in answer.changes]
    return [rows, [sync.window_end for sync in answer.syncs], changes]


@pytest.mark.parametrize("mode", Mode)
@LAW
@given(data=st.data())
def test_any_cut_into_batches_gives_the_same_rows_when_nothing_is_late(data: st.DataObject, mode: Mode):
    shape = data.draw(st.sampled_from([ONE_STREAM, IN_TIME]))
    case = data.draw(seeded_cases(replace(shape, mode=mode), punctuation="never_late"))
    answer = interpret(case.plan, case.feeds, flush=True)
    assert answer.late == ()
    again = {name: data.draw(recut(feed)) for name, feed in case.feeds.items()}
    assert told(interpret(case.plan, again, flush=True)) == told(answer)


@pytest.mark.parametrize("mode", Mode)
@LAW
@given(data=st.data())
def test_what_was_answered_is_not_taken_back_by_what_comes_later(data: st.DataObject, mode: Mode):
    case = data.draw(seeded_cases(Shape(mode=mode)))
    longest = max(len(feed.batches) for feed in case.feeds.values())
    known = data.draw(st.integers(1, longest))
    before = {name: Feed(feed.batches[:known]) for name, feed in case.feeds.items()}
    longer, shorter = interpret(case.plan, case.feeds), interpret(case.plan, padded(before, known))
    assert [row for row in longer.rows if row.batch < known] == list(shorter.rows)
    assert [row for row in longer.changes if row.batch < known] == list(shorter.changes)
    assert [row for row in longer.syncs if row.batch < known] == list(shorter.syncs)
    assert Counter(map(str, (row for row in longer.late if row.batch < known))) == Counter(map(str, shorter.late))


def padded(feeds: dict[str, Feed], batches: int) -> dict[str, Feed]:
    """Return feeds with at least so many batches: a run has as many batches as its longest feed."""
    empty = Feed.of([], [None] * batches)
    return {name: Feed((*feed.batches, *empty.batches[len(feed.batches) :])) for name, feed in feeds.items()}


@LAW
@given(seeded_cases(Shape(joins=False, subqueries=False, sets=False, instants=("stream", "rows", "jumps", "sampled"))))
def test_rows_come_in_the_order_of_their_times_and_batches(case: Case):
    answer = interpret(case.plan, case.feeds, flush=True)
    places = [(row.batch, row.time) for row in answer.rows]
    assert places == sorted(places)


@LAW
@given(seeded_cases(Shape(instants=("boundaries",), sync=True)))
def test_after_the_sync_row_of_an_extent_none_of_its_rows_appears(case: Case):
    answer = interpret(replace(case.plan, sync=True), case.feeds, flush=True)
    batches = {sync.window_end: sync.batch for sync in answer.syncs}
    ends = [sync.window_end for sync in answer.syncs]
    assert ends == sorted(set(ends))
    assert all(row.batch <= batches[row.time + 1] for row in answer.rows if row.time + 1 in batches)
    assert {row.time + 1 for row in answer.rows} <= set(ends)


def has_extents(plan: Plan) -> bool:
    """Return whether a row can be in several answers: the last rows of a window, at each of a series of times."""
    sampled = [each for each in walk(plan) if isinstance(each, Frequency) and each.every.is_time]
    return any(isinstance(below, Window) for each in sampled for below in walk(each))


ONE_PLACE = Shape(instants=("stream", "rows", "jumps", "sampled"), joins=False, subqueries=False, sets=False)


@LAW
@given(seeded_cases(ONE_PLACE))
def test_a_row_that_lost_its_place_might_as_well_not_have_come(case: Case):
    assume(not has_extents(case.plan))
    answer = interpret(case.plan, case.feeds)
    ((name, feed),) = case.feeds.items()
    lost = [(late.batch, late.row) for late in answer.lost]
    left = [
        replace(batch, rows=tuple(row for row in batch.rows if (number, row) not in lost))
        for number, batch in enumerate(feed.batches)
    ]
    without = interpret(case.plan, {name: Feed(tuple(left))})
    assert without.rows == answer.rows
    assert without.lost == ()


@LAW
@given(seeded_cases())
def test_nothing_is_late_before_a_punctuation(case: Case):
    silent = [(name, [replace(batch, punctuation=None) for batch in feed.batches]) for name, feed in case.feeds.items()]
    answer = interpret(case.plan, {name: Feed(tuple(batches)) for name, batches in silent}, flush=True)
    assert answer.late == ()
    assert {row.batch for row in answer.rows} <= {max(len(feed.batches) for feed in case.feeds.values())}


def everywhere(plan: Plan, change) -> Plan:
    """Return the plan with a change made at every operator that it fits, from the leaves up."""
    below = tuple(everywhere(each, change) for each in inputs(plan))
    return change(with_inputs(plan, below) if below else plan)


@LAW
@given(seeded_cases(Shape(instants=("boundaries",), ranges=(Kind.TIME,), aggregates=True)), st.integers(1, 5))
def test_panes_mean_the_same(case: Case, pane: int):
    def paned(plan: Plan) -> Plan:
        return replace(plan, pane=pane) if isinstance(plan, Aggregate) else plan

    changed = everywhere(case.plan, paned)
    assert interpret(changed, case.feeds, flush=True) == interpret(case.plan, case.feeds, flush=True)


@LAW
@given(seeded_cases(Shape(instants=("jumps", "boundaries"), pushed=False)))
def test_a_frequency_pushed_into_its_window_means_the_same(case: Case):
    def push(plan: Plan) -> Plan:
        match plan:
            case Frequency(child=Window() as window, every=every, by=by, strict=False) if window.every == ONE_TUPLE:
                return replace(window, every=every, by=by)
            case _:
                return plan

    changed = everywhere(case.plan, push)
    assert interpret(changed, case.feeds, flush=True) == interpret(case.plan, case.feeds, flush=True)


@LAW
@given(seeded_cases(Shape(mode=Mode.CHANGES)))
def test_a_changelog_says_only_what_its_class_allows(case: Case):
    assert isinstance(case.plan, Emit)
    changes = interpret(case.plan, case.feeds, flush=True).changes
    assert [each.valid_from for each in changes] == sorted(each.valid_from for each in changes)
    inserts = {each.number: each for each in changes if each.type == "insert"}
    for each in (each for each in changes if each.type == "delete"):
        began = inserts[each.number]
        assert began.row == each.row
        assert began.valid_from < each.valid_from
        assert began.valid_to is None or each.valid_from < began.valid_to
    deleted = Counter(each.number for each in changes if each.type == "delete")
    assert set(deleted.values()) <= {1}
    if class_of(case.plan) < Class.STRICT:
        assert not deleted
    if class_of(case.plan) is Class.MONOTONIC:
        assert all(each.valid_to is None for each in changes)
