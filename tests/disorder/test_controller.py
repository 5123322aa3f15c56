"""What the bracket of a query says, as the controller keeps it."""

from __future__ import annotations

import numpy as np
import pytest

from slackwater.disorder import ESTIMATORS, NO_PUNCTUATION, controller
from slackwater.disorder.clock import LATEST
from slackwater.disorder.controller import Controller
from slackwater.errors import InputError

MINUTE = 60_000_000


class Fixed:
    """An estimator that says what it is told, and remembers what it saw."""

    def __init__(self, *says):
        self.says, self.seen = list(says), []

    def observe(self, event, arrival, source=None):
        self.seen.append((event.tolist(), None if source is None else source.tolist()))
        return self.says.pop(0)

    def state(self):
        return b"fixed"

    def restore(self, state):
        assert state == b"fixed"


def stream(rows, seed=0):
    rng = np.random.default_rng(seed)
    arrival = np.arange(rows) * 1_000
    return arrival - rng.integers(0, 500_000, rows), arrival


def test_the_punctuation_never_falls_back():
    control = Controller(Fixed(10, 7, 12), skew=MINUTE)
    rows = np.array([20]), np.array([20])
    assert [control.observe(*rows) for _ in range(3)] == [10, 10, 12]


def test_a_row_is_late_by_the_punctuation_of_the_call_before():
    control = Controller(Fixed(10, 30), skew=MINUTE)
    control.observe([5, 9, 10], [11, 11, 11])
    assert control.progress.late == 0, "there was no punctuation before"
    control.observe([9, 10, 29, 31], [31, 31, 31, 31])
    assert control.progress.late == 1, "a tie is not late, and 30 came after these rows"
    assert control.progress.held == 1
    assert control.progress.ratio == pytest.approx(1 / 7)


def test_suspect_rows_are_counted_and_not_shown_to_the_estimator():
    estimator = Fixed(1, 2)
    control = Controller(estimator, skew=5)
    control.observe([10, 15, 16], [10, 10, 10], np.array([7, 8, 9]))
    assert estimator.seen == [([10, 15], [7, 8])], "5 ahead is allowed, 6 is not"
    assert (control.progress.suspect, control.progress.held) == (1, 2)


@pytest.mark.parametrize(("unit", "second"), [("us", 1_000_000), ("ms", 1_000), ("s", 1)])
def test_the_skew_is_5_minutes_in_any_unit(unit, second):
    control = controller(0.01, "max-delay", unit=unit)
    control.observe([300 * second, 300 * second + 1], [0, 0])
    assert control.progress.suspect == 1


def test_one_row_from_the_year_9999_does_not_move_the_punctuation():
    for name in ESTIMATORS:
        event, arrival = stream(3_000)
        plain, fooled = controller(0.01, name), controller(0.01, name)
        for start in range(0, 3_000, 100):
            batch = event[start : start + 100], arrival[start : start + 100]
            with_one = [np.append(batch[0], 253_402_300_799_000_000), np.append(batch[1], batch[1][-1])]
            assert fooled.observe(*with_one) == plain.observe(*batch)
        assert fooled.progress.suspect == 30
        assert fooled.progress.held == plain.progress.held


def test_the_sources_can_only_lower_the_estimate():
    class Back:
        def __init__(self):
            self.bounds = [5, LATEST]

        def observe(self, event, arrival, source):
            return self.bounds.pop(0)

    control = Controller(Fixed(10, 11, 12), skew=MINUTE, hold=Back())
    rows, source = (np.array([20]), np.array([20])), np.array([1])
    assert control.observe(*rows, source) == 5
    assert control.observe(*rows, source) == 11
    assert control.observe(*rows) == 12, "no source, no hold"


@pytest.mark.parametrize(("cap", "kind"), [(50, {"slack": 50}), (50, {"bsize": 50}), (20, {"slack": 50, "bsize": 20})])
@pytest.mark.parametrize("name", ["adaptive", "max-delay"])
def test_a_cap_holds_the_most_recent_rows_and_no_more(cap, kind, name):
    event, arrival = stream(2_000)
    capped, free = controller(0.01, name, **kind), controller(0.01, name)
    for start in range(0, 2_000, 10):
        rows = event[start : start + 10], arrival[start : start + 10]
        punctuation = capped.observe(*rows)
        free.observe(*rows)
        arrived = np.sort(event[: start + 10])
        least = arrived[-cap - 1] + 1 if len(arrived) > cap else NO_PUNCTUATION
        assert punctuation == max(least, free.progress.punctuation), "no more than the cap asks for"
        assert capped.progress.held <= cap
    assert capped.progress.late > free.progress.late


@pytest.mark.parametrize("within", [10_000, 150_000, 400_000, 10**9])
@pytest.mark.parametrize("name", ["budget", "adaptive", "max-delay"])
def test_within_keeps_the_punctuation_near_the_newest_row_and_changes_nothing_else(within, name):
    event, arrival = stream(4_000)
    event[1_000] = arrival[1_000] + 200_000  # one row from the future counts with its arrival
    capped, free = controller(0.01, name, within=within), controller(0.01, name)
    given_up, reached = 0, NO_PUNCTUATION
    for start in range(0, 4_000, 40):
        rows = event[start : start + 40], arrival[start : start + 40]
        given_up += 40 * capped.progress.capping
        punctuation = capped.observe(*rows)
        free.observe(*rows)
        newest = min(int(rows[0].max()), int(rows[1].max()))
        if event[: start + 40].min() < newest - within or reached > NO_PUNCTUATION:  # the first row falls due
            reached = max(reached, newest - within)
        assert punctuation == max(reached, free.progress.punctuation)
        assert capped.progress.uncapped == free.progress.punctuation
        assert capped.progress.capping == (reached > free.progress.punctuation)
    assert capped.progress.capped == given_up
    assert (given_up == 0) == (within == 10**9), "a cap that never binds changes nothing"
    assert ("given up" in capped.explain()) == capped.progress.capping


def test_state_carries_what_the_cap_did():
    event, arrival = stream(1_000)
    first, second = (controller(0.01, "adaptive", within=50_000) for _ in range(2))
    for start in range(0, 600, 100):
        first.observe(event[start : start + 100], arrival[start : start + 100])
    second.restore(first.state())
    assert first.progress.capped > 0 and second.progress == first.progress
    assert second.observe(event[600:], arrival[600:]) == first.observe(event[600:], arrival[600:])
    assert second.state() == first.state()


def test_slack_alone_is_the_fixed_buffer():
    event, arrival = stream(500)
    control = controller(None, slack=20)
    for start in range(0, 500, 7):
        punctuation = control.observe(event[start : start + 7], arrival[start : start + 7])
    assert punctuation == np.sort(event)[-21]
    same = controller(0.01, "slack", slack=20)
    assert same.observe(event, arrival) == punctuation


def test_slack_0_with_a_ratio_is_punctuation_only():
    event, arrival = stream(500)
    assert controller(0.05, "adaptive", slack=0).observe(event, arrival) == controller(0.05, "adaptive").observe(
        event, arrival
    )


def test_bsize_0_passes_every_row_at_once():
    control = controller(0.01, "max-delay", bsize=0)
    assert control.observe([3, 9, 4], [10, 10, 10]) == 10
    assert control.progress.held == 0


def test_state_carries_counts_held_rows_and_estimator():
    event, arrival = stream(1_000)
    first, second = controller(0.01, "adaptive", bsize=80), controller(0.01, "adaptive", bsize=80)
    first.observe(event[:600], arrival[:600])
    second.restore(first.state())
    assert second.progress == first.progress
    assert second.observe(event[600:], arrival[600:]) == first.observe(event[600:], arrival[600:])
    assert second.progress == first.progress
    assert second.state() == first.state()


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("SW-422", {"estimator": "adaptiv"}),
        ("SW-424", {"estimator": "adaptive", "slack": -1}),
        ("SW-424", {"estimator": "adaptive", "bsize": -1}),
        ("SW-424", {"estimator": "adaptive", "within": 0}),
        ("SW-425", {"dratio": None}),
        ("SW-420", {"estimator": "adaptive", "unit": "minutes"}),
    ],
)
def test_wrong_settings_are_refused(code, wrong):
    with pytest.raises(InputError) as refused:
        controller(**wrong)
    assert refused.value.code == code


def test_a_near_miss_in_the_name_is_hinted_at():
    with pytest.raises(InputError, match="did you mean 'adaptive'"):
        controller(0.01, "adaptiv")


@pytest.mark.parametrize("rows", [([1], [1, 2], None), ([1], [1], np.array([1, 2]))])
def test_a_ragged_batch_is_refused(rows):
    with pytest.raises(InputError) as refused:
        controller(0.01, "max-delay").observe(*rows)
    assert refused.value.code == "SW-426"
