"""The store of segments against a plain list, and what it reads and writes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.engine.columns import state
from slackwater.engine.columns.state import Store

CLOCKS = st.lists(st.integers(0, 60), max_size=12)


@pytest.fixture(autouse=True, scope="module")
def small_segments():
    most, state.MOST = state.MOST, 4
    yield
    state.MOST = most


def rows(clocks: list[int], first: int) -> pa.RecordBatch:
    return pa.record_batch(
        {"t": pa.array(clocks, pa.int64()), "id": pa.array(range(first, first + len(clocks)), pa.int64())}
    )


def told(found: pa.RecordBatch | None) -> list[tuple[int, int]]:
    return [] if found is None else list(zip(*(column.to_pylist() for column in found.columns), strict=True))


@given(st.lists(st.tuples(CLOCKS, st.integers(0, 60)), max_size=10))
def test_rows_leave_by_the_clock_in_the_order_of_their_age(steps: list[tuple[list[int], int]]):
    store, waiting, count, floor = Store("t"), [], 0, -1
    for given_, upto in steps:
        floor = max(floor, upto)
        clocks = [clock for clock in given_ if clock > floor]
        store = store.add(rows(clocks, count))
        waiting += zip(clocks, range(count, count + len(clocks)), strict=True)
        count += len(clocks)
        found, store = store.due(upto)
        left = sorted((row for row in waiting if row[0] <= upto), key=lambda row: row[0])
        waiting = [row for row in waiting if row[0] > upto]
        assert told(found) == left
        assert len(waiting) <= store.size <= 2 * len(waiting)
        assert all(segment.size <= state.MOST for segment in store.segments)


@given(st.lists(st.tuples(CLOCKS, st.sets(st.integers(0, 60))), max_size=10))
def test_rows_that_are_not_wanted_go_when_they_are_most_of_a_segment(steps: list[tuple[list[int], set[int]]]):
    store, waiting, count = Store("t"), [], 0
    gone: set[int] = set()
    for given_, unwanted in steps:
        clocks = [clock for clock in given_ if clock not in gone | unwanted]
        gone = gone | unwanted
        store = store.add(rows(clocks, count))
        waiting += zip(clocks, range(count, count + len(clocks)), strict=True)
        count += len(clocks)
        leaving = sorted(row for row in waiting if row[0] in gone)
        waiting = [row for row in waiting if row[0] not in gone]
        every = store.all()
        assert {*leaving, *waiting} <= set(told(every))
        if every is not None:
            store = store.keep(every, ~np.isin(every.column("t").to_numpy(), list(gone)))
        assert set(waiting) <= set(told(store.all()))
        assert store.size <= 2 * len(waiting)


def test_segments_beyond_the_clock_are_not_read():
    store = Store("t").add(rows([1, 2, 3, 4], 0)).add(rows([5, 6, 7, 8], 4))

    def unread() -> pa.RecordBatch:
        raise AssertionError("read")

    first, second = store.segments
    store = replace(store, segments=(first, replace(second, read=unread)))
    found, store = store.due(3)
    assert told(found) == [(1, 0), (2, 1), (3, 2)]
    assert [segment.number for segment in store.segments] == [2, 1]


def test_a_segment_whose_next_row_is_far_ahead_is_not_read_again_and_again():
    store = Store("t").add(rows([1, 90, 91, 92], 0))
    asked: list[int] = []
    (segment,) = store.segments

    def read() -> pa.RecordBatch:
        asked.append(1)
        return segment.read()

    store = replace(store, segments=(replace(segment, read=read),))
    for upto in range(1, 50):
        _, store = store.due(upto)
    assert len(asked) == 1
    assert told(store.due(90)[0]) == [(90, 1)]


def test_a_row_is_written_again_only_while_those_after_it_double():
    """1,024 batches of one row: each row is written about as often as 4 is halved, not 1,024 times."""
    state.MOST, small = 1 << 16, state.MOST
    store, written = Store("t"), 0
    for clock in range(1024):
        before = {segment.number for segment in store.segments}
        store = store.add(rows([clock], clock))
        written += sum(segment.size for segment in store.segments if segment.number not in before)
    state.MOST = small
    assert len(store.segments) <= 11
    assert written <= 11 * 1024
