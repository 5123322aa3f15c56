"""The multiset of held rows against a sorted list."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.disorder import held as module
from slackwater.disorder.clock import EARLIEST, LATEST
from slackwater.disorder.held import Held
from slackwater.errors import RunError

time = st.integers(0, 50) | st.sampled_from([EARLIEST, EARLIEST + 1, LATEST - 1, LATEST])
step = st.tuples(st.lists(time, max_size=40), time, st.integers(0, 60))


@settings(max_examples=100, deadline=None)
@given(steps=st.lists(step, max_size=12))
def test_it_is_a_sorted_list(steps):
    held, rows = Held(), []
    for more, punctuation, most in steps:
        held.add(*np.unique(np.array(more, np.int64), return_counts=True))
        rows = sorted(rows + more)
        assert len(held) == len(rows)
        check_cap(held.beyond(most), rows, most)
        event, count = held.release(punctuation)
        assert sorted(np.repeat(event, count).tolist()) == sorted(row for row in rows if row < punctuation)
        rows = [row for row in rows if row >= punctuation]
        assert np.repeat(*held.rows()).tolist() == rows
        held = Held.of(*held.rows()) if most % 2 else held


def check_cap(cap, rows, most):
    if len(rows) <= most:
        assert cap == EARLIEST
    elif cap < LATEST:
        assert sum(row >= cap for row in rows) <= most
        assert sum(row >= cap - 1 for row in rows) > most, "a smaller one would do"


def test_a_million_rows_are_few_runs():
    held = Held()
    for start in range(0, 1_000_000, 5_000):
        held.add(np.arange(start, start + 5_000), np.ones(5_000, np.int64))
    assert len(held) == 1_000_000
    assert len(held._runs) <= 10
    assert held.beyond(10) == 999_990


def test_it_refuses_to_fill_the_memory(monkeypatch):
    monkeypatch.setattr(module, "MOST", 10)
    held = Held()
    held.add(np.arange(5), np.full(5, 2))
    with pytest.raises(RunError) as refused:
        held.add(np.arange(1), np.ones(1, np.int64))
    assert refused.value.code == "SW-522"
