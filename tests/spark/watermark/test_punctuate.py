"""Accounts without Spark: every row is counted once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from slackwater.spark.watermark.policy import controller_of, policy_of
from slackwater.spark.watermark.punctuate import Account, observe_batch
from slackwater.spark.watermark.readings import Batch, Reading

times = st.one_of(st.none(), st.integers(-(10**12), 253_402_300_799_999))
rows = st.lists(st.tuples(times, st.integers(0, 10**13)), max_size=40)


def reading(batch: list[tuple[int | None, int]]) -> Reading:
    timed = sorted((row for row in batch if row[0] is not None), key=lambda row: row[1])
    return Reading(Batch(len(batch), *np.array(timed, np.int64).reshape(-1, 2).T))


@given(st.lists(rows, max_size=5))
def test_rows_in_are_on_time_or_late_or_untimed(batches):
    """Against a count row by row, with the punctuation that stood before each batch."""
    controller, account = controller_of(policy_of(slack=3)), Account()
    late = untimed = total = 0
    for batch in batches:
        before = account.punctuation
        account = observe_batch(controller, account, reading(batch))
        late += sum(time is not None and time < before for time, _ in batch)
        untimed += sum(time is None for time, _ in batch)
        total += len(batch)
        assert account.punctuation >= before >= 0
    assert (account.rows, account.late, account.untimed) == (total, late, untimed)
    assert account.on_time == total - late - untimed


def test_hold_is_the_time_from_arrival_to_the_batch_whose_punctuation_passed_the_row():
    """Slack 1, clocks 20, 50 and 90. Row 10 waits until its own batch ends; row 20 until the punctuation is 50."""
    controller, account = controller_of(policy_of(slack=1)), Account()
    waited = []
    for event, arrival in (([10, 20], [12, 20]), ([50], [50]), ([80], [90])):
        account = observe_batch(
            controller, account, Reading(Batch(len(event), np.array(event), np.array(arrival), None))
        )
        waited.append((account.punctuation, account.held, account.held_time))
    # A row that the punctuation reaches without passing it still counts as held: 10 in the first batch, and so on.
    assert waited == [(10, 2, 8), (20, 2, 8 + 2 * 30), (50, 2, 8 + 2 * 30 + 2 * 40)]
