"""The laws of every estimator that has a name, on any stream: nothing here knows which estimators there are."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.law_cases import law_cases

from slackwater.disorder import ESTIMATORS, NO_PUNCTUATION, controller
from slackwater.errors import RunError

EARLIEST, LATEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
YEAR_9999 = 253_402_300_799_000_000
NOW = 1_700_000_000_000_000

NAMES = sorted(ESTIMATORS)
every_estimator = pytest.mark.parametrize("name", NAMES)
quick = settings(max_examples=law_cases(30), deadline=None)

delayed = st.tuples(st.integers(NOW, NOW + 10**8), st.integers(-(10**6), 10**7))
usual = delayed.map(lambda row: (row[0] - row[1], row[0]))
small = st.tuples(st.integers(0, 40), st.integers(0, 40))
odd_time = st.sampled_from([EARLIEST, EARLIEST + 1, -1, 0, 1, NOW, YEAR_9999, LATEST - 1, LATEST])
odd = st.tuples(odd_time | st.integers(EARLIEST, LATEST), odd_time | st.integers(EARLIEST, LATEST))


@st.composite
def streams(draw):
    """Draw batches of (event, arrival, source): of usual rows, of small numbers, or of the ends of int64."""
    row = draw(st.sampled_from([usual, small, odd, usual | odd]))
    rows = draw(st.lists(row, max_size=60))
    rows = rows * draw(st.sampled_from([1, 1, 7]))  # some streams repeat themselves, past every warm-up
    if draw(st.booleans()):
        rows.sort(key=lambda pair: pair[1])
    cuts = sorted(draw(st.lists(st.integers(0, len(rows)), max_size=6)))
    bounds = [0, *cuts, len(rows)]
    return [batch(rows[start:stop]) for start, stop in pairwise(bounds)]


def batch(rows):
    pairs = np.array(rows, np.int64).reshape(-1, 2)
    event, arrival = pairs[:, 0].copy(), pairs[:, 1].copy()
    return event, arrival, np.arange(len(rows), dtype=np.int64) % 3


def fresh(name):
    return ESTIMATORS[name](dratio=0.01, unit="us")


@every_estimator
@quick
@given(stream=streams())
def test_punctuation_never_decreases_and_stays_in_int64(name, stream):
    estimator, last = fresh(name), NO_PUNCTUATION
    for event, arrival, source in stream:
        punctuation = estimator.observe(event, arrival, source)
        assert type(punctuation) is int
        assert last <= punctuation <= LATEST
        last = punctuation


@every_estimator
@quick
@given(stream=streams(), at=st.integers(0, 7))
def test_a_restored_estimator_continues_identically(name, stream, at):
    first, second = fresh(name), fresh(name)
    for rows in stream[:at]:
        first.observe(*rows)
    second.restore(first.state())
    assert second.state() == first.state()
    for rows in stream[at:]:
        assert second.observe(*rows) == first.observe(*rows)
    assert second.state() == first.state()


@every_estimator
@quick
@given(stream=streams())
def test_an_empty_batch_changes_nothing(name, stream):
    estimator = fresh(name)
    for rows in stream:
        punctuation, state = estimator.observe(*rows), estimator.state()
        assert estimator.observe(*batch([])) == punctuation
        assert estimator.state() == state


@every_estimator
@quick
@given(stream=streams())
def test_the_callers_arrays_are_neither_changed_nor_kept(name, stream):
    """Spark hands out buffers that it uses again."""
    plain, lent = fresh(name), fresh(name)
    for rows in stream:
        copies = [column.copy() for column in rows]
        for column in copies:
            column.flags.writeable = False
        expected = plain.observe(*rows)
        assert lent.observe(*copies) == expected
        for column in copies:
            column.flags.writeable = True
            column.fill(-7)
    assert lent.state() == plain.state()


@every_estimator
@quick
@given(stream=streams(), cap=st.none() | st.integers(0, 20))
def test_the_controllers_counts_are_exact(name, stream, cap):
    control = controller(0.01, name, bsize=cap)
    rows = late = suspect = 0
    before, honest = NO_PUNCTUATION, []
    for event, arrival, source in stream:
        pairs = list(zip(event.tolist(), arrival.tolist(), strict=True))
        rows += len(pairs)
        late += sum(e < before for e, _ in pairs)
        suspect += sum(e - a > 300_000_000 for e, a in pairs)
        honest += [e for e, a in pairs if e - a <= 300_000_000]
        after = control.observe(event, arrival, source)
        assert after >= before
        before = after
        progress = control.progress
        assert (progress.rows, progress.late, progress.suspect) == (rows, late, suspect)
        assert progress.held == sum(e >= after for e in honest)
        assert cap is None or progress.held <= cap or after == LATEST
        assert progress.punctuation == after


@every_estimator
def test_state_stays_bounded_over_a_million_rows(name):
    rng = np.random.default_rng(7)
    estimator, sizes = fresh(name), []
    for number in range(100):
        arrival = NOW + number * 1_000_000 + np.sort(rng.integers(0, 1_000_000, 10_000))
        estimator.observe(arrival - rng.integers(0, 3_000_000, 10_000), arrival, rng.integers(0, 9, 10_000))
        if number % 25 == 24:
            sizes.append(len(estimator.state()))
    assert max(sizes) < 1_000_000
    assert sizes[-1] < 1.5 * sizes[0] + 1_000, "it should have stopped growing"


@every_estimator
def test_a_straggler_after_a_pause_takes_no_memory(name):
    """Usual delays are of milliseconds: what is learnt for five minutes must not be cut into milliseconds."""
    rng = np.random.default_rng(8)
    estimator, pause = fresh(name), 300 * 1_000_000
    for start, delay in ((0, 0), (4_000_000, 0), (pause, pause - 9_000_000), (pause + 1_000_000, 0)):
        arrival = NOW + start + np.arange(1 if delay else 4_000) * 1_000
        event = arrival - delay - rng.integers(0, 5_000, len(arrival))
        tracemalloc.start()
        estimator.observe(event, arrival)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 50_000_000


REGULAR = np.arange(NOW, NOW + 4_000_000, 1_000)
AWKWARD = {
    "one row": (REGULAR[:1], REGULAR[:1]),
    "no delay at all": (REGULAR, REGULAR),
    "one delay, so zero variance": (REGULAR, REGULAR + 5_000),
    "all at one instant": (np.full(4_000, NOW), np.full(4_000, NOW + 9)),
    "one arrival for a batch": (REGULAR, np.repeat(REGULAR[399::400] + 1_000, 400)),
    "a clock that steps back": (REGULAR, np.concatenate((REGULAR[:2_000], REGULAR[:2_000] - 10**7))),
    "events after their arrival": (REGULAR + 60_000_000, REGULAR),
    "before 1970": (REGULAR - 2 * NOW, REGULAR - 2 * NOW + 700),
    "year 9999": (np.where(np.arange(4_000) % 97, REGULAR, YEAR_9999), REGULAR),
    "the ends of int64": (np.resize([EARLIEST, LATEST], 4_000), np.resize([LATEST, 0, EARLIEST], 4_000)),
}


@every_estimator
@pytest.mark.parametrize("kind", AWKWARD)
@pytest.mark.parametrize("rows", [1, 400])
def test_awkward_streams_give_finite_punctuations(name, kind, rows):
    event, arrival = AWKWARD[kind]
    event, arrival = event[: 10 * rows if rows == 1 else None], arrival[: 10 * rows if rows == 1 else None]
    estimator, last = fresh(name), NO_PUNCTUATION
    for start in range(0, len(event), rows):
        punctuation = estimator.observe(event[start : start + rows], arrival[start : start + rows])
        assert last <= punctuation <= LATEST
        last = punctuation


@every_estimator
@pytest.mark.parametrize("kind", ["no delay at all", "one delay, so zero variance"])
def test_a_stream_in_order_loses_nothing_and_is_not_held_for_ever(name, kind):
    event, arrival = AWKWARD[kind]
    event, arrival = np.concatenate((event, event + 4_000_000)), np.concatenate((arrival, arrival + 4_000_000))
    control = controller(0.01, name)
    for start in range(0, len(event), 100):
        control.observe(event[start : start + 100], arrival[start : start + 100])
    assert control.progress.late == 0
    assert event[0] < control.progress.punctuation <= event[-1] + 1


@every_estimator
def test_states_of_others_and_torn_states_are_refused(name):
    state = fresh(name).state()
    other = fresh("slack" if name == "max-delay" else "max-delay")
    with pytest.raises(RunError) as refused:
        other.restore(state)
    assert refused.value.code == "SW-521"
    for torn in (b"", state[:5], state[:-1], state[:40] + b"?" + state[41:]):
        with pytest.raises(RunError) as refused:
            fresh(name).restore(torn)
        assert refused.value.code == "SW-520"
