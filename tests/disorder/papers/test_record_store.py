"""The record store against a list of rows that is sorted whenever rows leave."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.disorder.clock import EARLIEST, LATEST
from slackwater.disorder.papers.inode import INode
from slackwater.disorder.papers.record_store import REACH, SLOTS, RecordStore
from slackwater.engine.columns.arrays import counted
from slackwater.errors import InputError

near = st.integers(-300, 2_000)
far = st.sampled_from([EARLIEST, -(10**15), 10**9, 10**15, LATEST - 1, LATEST]) | st.integers(EARLIEST, LATEST)
step = st.tuples(st.lists(st.tuples(near | far | near, st.integers(0, 9)), max_size=30), near | far, st.integers(0, 40))


class Listed:
    """What the store must be equal to."""

    def __init__(self):
        self.rows, self.released, self.placed = [], EARLIEST, 0

    def place(self, pairs):
        lost = [event < self.released for event, _ in pairs]
        numbered = [(event, arrival, self.placed + at) for at, (event, arrival) in enumerate(pairs)]
        self.rows += [row for row, gone in zip(numbered, lost, strict=True) if not gone]
        self.placed += len(pairs)
        return lost

    def release(self, punctuation):
        self.released = max(self.released, punctuation)
        out = sorted(row for row in self.rows if row[0] < self.released)
        self.rows = [row for row in self.rows if row[0] >= self.released]
        return out


def columns(pairs):
    both = np.array(pairs, np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def tuples(rows):
    return list(zip(rows.event.tolist(), rows.arrival.tolist(), rows.row.tolist(), strict=True))


@settings(max_examples=150, deadline=None)
@given(steps=st.lists(step, max_size=8), granularity=st.sampled_from([1, 3, 10_000]))
def test_rows_leave_by_event_arrival_and_position(steps, granularity):
    store, listed = RecordStore(granularity), Listed()
    for pairs, punctuation, most in steps:
        assert store.place(*columns(pairs)).tolist() == listed.place(pairs)
        assert len(store) == len(listed.rows)
        cap = store.beyond(most)
        if len(listed.rows) <= most:
            assert cap == EARLIEST
        elif cap < LATEST:
            assert sum(row[0] >= cap for row in listed.rows) <= most
            assert sum(row[0] >= cap - 1 for row in listed.rows) > most
        assert tuples(store.release(punctuation)) == listed.release(punctuation)
        assert 8 <= store.inode_size <= 2 * REACH


def test_a_long_stream_comes_out_sorted_with_its_rows():
    rng = np.random.default_rng(1)
    record = np.dtype([("vehicle", "i4"), ("speed", "f4")])
    event = np.arange(50_000)
    arrival = event + rng.integers(0, 3_000, 50_000)
    order = np.argsort(arrival, kind="stable")
    event, arrival = event[order], arrival[order]
    row = np.zeros(50_000, record)
    row["vehicle"] = event
    store, out = RecordStore(granularity=10), []
    for start in range(0, 50_000, 700):
        stop = start + 700
        assert not store.place(event[start:stop], arrival[start:stop], row[start:stop]).any()
        out.append(store.release(int(arrival[start:stop][-1]) - 3_000))
    out.append(store.release(LATEST))
    assert np.concatenate([each.event for each in out]).tolist() == list(range(50_000))
    assert np.concatenate([each.row for each in out])["vehicle"].tolist() == list(range(50_000))
    assert len(store) == 0


def test_the_inode_grows_and_shrinks():
    store = RecordStore()
    store.place(np.arange(0, 100 * SLOTS, 7), np.arange(0, 100 * SLOTS, 7))
    assert store.inode_size == 128
    store.release(97 * SLOTS)
    assert store.inode_size == 8
    assert len(store.release(100 * SLOTS).event) == len(range(97 * SLOTS + 1, 100 * SLOTS, 7))


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_far_rows_wait_aside_and_still_leave_in_order(order):
    """Also when the very first row of all is the far one."""
    events = [500, 253_402_300_799_000_000, LATEST - 5]
    store = RecordStore()
    for at in order:
        store.place(np.array([events[at]]), np.array([at]))
    assert store.inode_size == 8
    assert store.release(1_000).event.tolist() == [500]
    store.place(np.array([2_000]), np.array([9]))
    assert store.inode_size == 8
    assert store.release(LATEST).event.tolist() == [2_000, *events[1:]]


def test_a_row_whose_place_was_released_is_lost():
    store = RecordStore()
    store.release(10)
    assert store.place(np.array([9, 10]), np.array([11, 11])).tolist() == [True, False]
    assert store.release(8).event.tolist() == [], "a punctuation that falls back releases nothing"


def test_equal_events_keep_their_arrival_order_even_when_the_clock_steps_back():
    store = RecordStore()
    store.place(np.array([4, 4, 4]), np.array([20, 21, 21]))
    store.place(np.array([4, 4]), np.array([5, 21]))
    released = store.release(5)
    assert released.arrival.tolist() == [5, 20, 21, 21, 21]
    assert released.row.tolist() == [3, 0, 1, 2, 4]


@settings(max_examples=60, deadline=None)
@given(keys=st.lists(st.integers(0, 100) | st.integers(0, LATEST), max_size=60))
def test_counting_is_a_stable_order(keys):
    assert counted(np.array(keys, np.int64)).tolist() == sorted(range(len(keys)), key=lambda at: keys[at])


@settings(max_examples=100, deadline=None)
@given(steps=st.lists(st.tuples(st.booleans(), st.integers(0, 300), st.integers(0, 90)), max_size=12))
def test_the_inode_is_a_dictionary_of_p_nodes(steps):
    """Its rows are stood in for by the number of their p-node."""
    inode, plain = INode(), {}
    for dropping, number, more in steps:
        if dropping:
            expected = [plain.pop(each) for each in sorted(plain) if each < number]
            assert inode.drop(number) == expected
        else:
            inode.cover(number, number + more)
            for each in (number, number + more):
                inode.append(each, each)
                plain.setdefault(each, []).append(each)
        assert inode.pnodes() == [plain[each] for each in sorted(plain)]
        assert inode.size >= 8
        assert inode.size & (inode.size - 1) == 0


@pytest.mark.parametrize("granularity", [0, -1, LATEST])
def test_a_slot_has_a_sensible_width(granularity):
    with pytest.raises(InputError) as refused:
        RecordStore(granularity)
    assert refused.value.code == "SW-428"
