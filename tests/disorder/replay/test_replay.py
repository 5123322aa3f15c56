"""Replay and its measures, against values worked out by hand and a plain loop."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.disorder.replay.replaying import (
    NOTHING_YET,
    batches_by_rows,
    batches_by_time,
    measure,
    replay,
    worst_share,
)


class Script:
    """Answers with the punctuations that it was given, and remembers what it saw."""

    def __init__(self, *punctuations):
        self.punctuations = list(punctuations)
        self.seen = []

    def observe(self, event, arrival, source=None):
        self.seen.append((event.tolist(), arrival.tolist(), None if source is None else source.tolist()))
        return self.punctuations[len(self.seen) - 1]


def ints(*values):
    return np.array(values, np.int64)


def test_a_stream_of_six_rows_by_hand():
    event = ints(10, 12, 11, 15, 9, 16)
    arrival = ints(20, 21, 22, 23, 24, 26)
    script = Script(NOTHING_YET, 12, 15)
    punctuation, measures = replay(batches_by_rows(event, arrival, 2, ints(1, 2, 1, 2, 1, 2)), script)
    assert script.seen[1] == ([11, 15], [22, 23], [1, 2])
    assert punctuation.tolist() == [NOTHING_YET, 12, 15]
    # Row 5 (event 9) came after punctuation 12. Rows 1-3 wait for 12, known at 23: 3, 2 and 1. Row 4 waits for
    # 15, known at 26: 3. Row 6 (event 16) is never reached and waits for the end: 0.
    assert measures.late == 1
    assert measures.mean_hold == pytest.approx((3 + 2 + 1 + 3 + 0) / 5)
    # Held after each batch: 2 rows, then row 4 alone, then row 6 alone.
    assert measures.mean_held == pytest.approx(4 / 3)
    assert measures.max_held == 2
    assert measures.late_share == pytest.approx(1 / 6)


def test_batches_by_time_follow_the_arrival_clock_and_skip_empty_triggers():
    arrival = ints(0, 4, 9, 10, 45, 46)
    assert batches_by_time(arrival, arrival, 10).ends.tolist() == [3, 4, 6]
    assert batches_by_time(arrival, arrival, 10).clock.tolist() == [9, 10, 46]


def test_one_row_is_a_stream():
    _, measures = replay(batches_by_rows(ints(5), ints(7), 64), Script(5))
    assert (measures.rows, measures.late, measures.mean_hold, measures.max_held) == (1, 0, 0.0, 0)


def test_the_worst_stretch_is_found_anywhere():
    late = np.zeros(100, bool)
    late[37:42] = True
    assert worst_share(late, 10) == 0.5


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_measures_agree_with_a_plain_loop(data):
    rows = data.draw(st.integers(1, 25))
    gaps = data.draw(st.lists(st.integers(0, 5), min_size=rows, max_size=rows))
    delays = data.draw(st.lists(st.integers(-2, 12), min_size=rows, max_size=rows))
    arrival = np.cumsum(np.array(gaps, np.int64))
    event = arrival - np.array(delays, np.int64)
    batches = batches_by_rows(event, arrival, data.draw(st.integers(1, 7)))
    count = len(batches.ends)
    steps = data.draw(st.lists(st.integers(0, 9), min_size=count, max_size=count))
    punctuation = np.cumsum(np.array(steps, np.int64)) - 10
    got = measure(batches, punctuation)

    late, hold, held = 0, [], [0] * count
    for row in range(rows):
        batch = next(b for b, end in enumerate(batches.ends) if row < end)
        if batch > 0 and event[row] < punctuation[batch - 1]:
            late += 1
            continue
        release = next((b for b in range(batch, count) if punctuation[b] >= event[row]), None)
        hold.append(arrival[-1 if release is None else batches.ends[release] - 1] - arrival[row])
        for b in range(batch, count if release is None else release):
            held[b] += 1
    assert got.late == late
    assert got.mean_hold == pytest.approx(np.mean(hold) if hold else 0.0)
    assert got.max_held == max(held)
    assert got.mean_held == pytest.approx(np.mean(held))
