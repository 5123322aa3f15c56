"""Rows for the terminal."""

from slackwater.spark.batches import DeliveredBatch
from slackwater.spark.io.sinks.shown import ShownSink


def test_a_time_after_the_year_9999_is_shown_as_the_last_moment_of_it(spark):
    """A window of a row at the end of 9999 ends in 10000, for which Python has no datetime."""
    times = "timestamp_micros(253402300800000000)", "CAST(NULL AS TIMESTAMP)", "TIMESTAMP '2024-01-01 00:00:01'"
    shown = []
    rows = spark.sql(" UNION ALL ".join(f"SELECT {n} AS `a b`, {each} AS ts" for n, each in enumerate(times)))
    ShownSink(lambda _, batch: shown.extend(batch)).write(rows, DeliveredBatch(0, "run"))
    found = {row["a b"]: row["ts"] for row in shown}
    assert (str(found[0]), found[1], str(found[2])) == ("9999-12-31 23:59:59.999999", None, "2024-01-01 00:00:01")
