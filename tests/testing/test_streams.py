"""The random streams are as their options say."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.semantics import Feed
from slackwater.testing.catalog import EDITS, READINGS
from slackwater.testing.choices import Seeded
from slackwater.testing.streams import DISORDERS, FAR, PUNCTUATIONS, feed, make_feed, recut, rows

QUICK = settings(max_examples=40, deadline=None)
PLAIN = {"null_times": False, "far_future": False, "duplicates": False}


@QUICK
@given(rows(READINGS, disorder=["none"], **PLAIN))
def test_without_disorder_rows_come_in_the_order_of_their_times(found):
    times = [row["ts"] for row in found]
    assert times == sorted(times)
    assert all(row["arrived"] == row["ts"] for row in found)


@QUICK
@given(rows(READINGS, disorder=["bounded"], unit=1_000, **PLAIN))
def test_bounded_disorder_is_bounded(found):
    assert all(0 <= row["arrived"] - row["ts"] <= 5_000 for row in found)
    assert all(row["ts"] % 1_000 == 0 for row in found)


@QUICK
@given(st.sampled_from(DISORDERS).flatmap(lambda kind: rows(READINGS, disorder=[kind])))
def test_rows_stand_in_the_order_of_their_arrival(found):
    arrivals = [row["arrived"] for row in found]
    assert arrivals == sorted(arrivals)
    assert all(set(row) == {field.name for field in READINGS.fields} for row in found)


@QUICK
@given(rows(READINGS, nulls=False, **PLAIN))
def test_nulls_and_far_stamps_can_be_left_out(found):
    assert all(None not in row.values() and row["ts"] < FAR * 2 for row in found)


@QUICK
@given(rows(EDITS))
def test_a_changelog_stream_has_change_types(found):
    assert all(row["op"] in ("insert", "delete", "update_postimage") for row in found)


def seen_and_to_come(found: Feed):
    """Yield for each batch its punctuation and the event times of all later batches."""
    for number, batch in enumerate(found.batches):
        later = [row["ts"] for each in found.batches[number + 1 :] for row in each.rows]
        yield batch.punctuation, [time for time in later if time is not None]


@QUICK
@given(st.sampled_from(PUNCTUATIONS).flatmap(lambda kind: feed(READINGS, punctuation=kind)))
def test_punctuations_never_go_back(found: Feed):
    marks = [batch.punctuation for batch in found.batches if batch.punctuation is not None]
    assert marks == sorted(marks)


@QUICK
@given(feed(READINGS, punctuation="never_late"))
def test_never_late_is_as_high_as_it_can_be(found: Feed):
    for mark, later in seen_and_to_come(found):
        assert not later or mark == min(later)


@QUICK
@given(feed(READINGS), st.data())
def test_cutting_again_keeps_rows_and_punctuations(found: Feed, data: st.DataObject):
    again = data.draw(recut(found))
    assert [row for batch in again.batches for row in batch.rows] == [
        row for batch in found.batches for row in batch.rows
    ]
    kept = [batch.punctuation for batch in again.batches if batch.punctuation is not None]
    assert kept == [batch.punctuation for batch in found.batches if batch.punctuation is not None]


def test_what_is_seldom_is_made_now_and_then():
    found: Counter[str] = Counter()
    for seed in range(300):
        batches = make_feed(Seeded(seed), READINGS).batches
        arrived = [row for batch in batches for row in batch.rows]
        times = [row["ts"] for row in arrived if row["ts"] is not None]
        found["empty batch"] += any(not batch.rows for batch in batches)
        found["null time"] += len(times) < len(arrived)
        found["null value"] += any(row["v"] is None for row in arrived)
        found["far future"] += any(time >= FAR for time in times)
        found["tie"] += len(set(times)) < len(times)
        found["duplicate"] += any(arrived.count(row) > 1 for row in arrived)
        found["disorder"] += times != sorted(times)
    assert min(found.values()) >= 30
    assert len(found) == 7
