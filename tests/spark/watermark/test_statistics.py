"""What a control sees of a batch beyond its counts, against the rows themselves."""

import numpy as np

from slackwater.disorder import controller
from slackwater.spark.watermark.punctuate import Account, observe_batch
from slackwater.spark.watermark.readings import Batch, Reading
from slackwater.spark.watermark.statistics import BUCKETS, LATE_ROWS, MIDDLES, Sight, bucket_of

START = 1_700_000_000_000


def replayed(batches: int = 60, rows: int = 500, dratio: float = 0.02):
    """Replay a stream in batches of a second; return statistics, account, and the batch and true hold of each row."""
    rng = np.random.default_rng(3)
    control, account, sight = controller(dratio, unit="ms"), Account(), Sight()
    arrivals, events, releases, seen = [], [], [], []
    for number in range(batches):
        arrival = START + 1_000 * number + np.sort(rng.integers(0, 1_000, rows))
        event = arrival - rng.exponential(400, rows).astype(np.int64)
        reading = Reading(Batch(rows, event, arrival))
        before = account.punctuation
        account = observe_batch(control, account, reading)
        seen.append(sight.see(reading, before, account.clock, control.released, control.skew))
        arrivals.append(arrival[event >= before])
        events.append(event[event >= before])
        releases.append((account.punctuation, account.clock))
    arrival, event = np.concatenate(arrivals), np.concatenate(events)
    first = np.searchsorted([punctuation for punctuation, _ in releases], event, side="right")
    out = first < batches
    clocks = np.array([clock for _, clock in releases])
    return seen, account, first[out], clocks[first[out]] - arrival[out]


def test_holds_are_near_those_of_the_rows_and_the_high_quantile_is_above_the_mean():
    seen, account, released_in, holds = replayed()
    for batch in range(20, 60):
        true = holds[released_in == batch]
        if len(true) < 100:
            continue
        assert abs(seen[batch].hold_p50 - np.median(true)) <= 0.12 * np.median(true)
        assert abs(seen[batch].hold_p99 - np.quantile(true, 0.99)) <= 0.12 * np.quantile(true, 0.99)
        assert seen[batch].hold_p99 > true.mean()
    assert account.late > 0


def test_delays_are_counted_by_bucket_and_late_rows_are_the_last_ones():
    seen, *_ = replayed(batches=40)
    assert all(sum(each.delays.values()) == 500 for each in seen)
    assert sum(len(each.late_rows) for each in seen) > 0
    for each in seen:
        assert len(each.late_rows) <= LATE_ROWS
        assert all(event < each.against <= arrival for event, arrival in each.late_rows)


def test_a_bucket_holds_the_delays_around_its_middle_and_there_are_few():
    delays = np.unique(np.geomspace(1, 2**62, 5_000).astype(np.int64))
    buckets = bucket_of(delays)
    assert buckets.max() < BUCKETS and bucket_of(np.array([np.iinfo(np.int64).max])).max() < BUCKETS
    assert np.all(np.abs(delays - MIDDLES[buckets]) <= 0.051 * delays + 1)


def test_a_batch_that_releases_nothing_leaves_the_holds_as_they_were():
    sight, nothing = Sight(), np.empty(0, np.int64)
    event, arrival = np.array([START, START + 10]), np.array([START + 100, START + 110])
    released = np.array([START]), np.array([1])
    first = sight.see(Reading(Batch(2, event, arrival)), 0, START + 500, released, 0)
    then = sight.see(Reading(Batch(0, nothing, nothing)), 0, START + 900, (nothing, nothing), 0)
    assert (then.hold_p50, then.hold_p99) == (first.hold_p50, first.hold_p99) and first.hold_p50 > 0


def test_a_batch_without_rows_shows_nothing():
    nothing = np.empty(0, np.int64)
    seen = Sight().see(Reading(Batch(0, nothing, nothing)), 5, 9, (nothing, nothing), 0)
    assert (seen.delays, seen.hold_p50, seen.late_rows) == ({}, 0.0, ())
    assert seen.document == {"delays": [[], []], "hold_p50": 0.0, "hold_p99": 0.0, "late_rows": [], "against": 5}
