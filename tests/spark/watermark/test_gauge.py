"""What gauges read while Spark runs, against the same rows in NumPy; and what must not count twice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming import StreamingQuery
from tests.spark.streams import write_batch

from slackwater.spark.store import Location
from slackwater.spark.watermark import gauge
from slackwater.spark.watermark.accounts import stream_of
from slackwater.spark.watermark.control import with_disorder_control
from slackwater.spark.watermark.policy import policy_of
from slackwater.spark.watermark.punctuate import Account, Controlled
from slackwater.spark.watermark.readings import Batch, Reading
from slackwater.spark.watermark.state_files import StateFiles

SCHEMA = "ts timestamp, received timestamp, host string"
START = 1_700_000_000_000
YEAR = 366 * 86_400_000


Rows = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Event time and arrival, in ms and -1 for NULL, and the sender of each row."""


def batches(seed: int, sizes: tuple[int, ...], *, unstamped: bool = True) -> list[Rows]:
    """Return batches of rows whose arrivals are distinct and out of order.

    Some rows have no event time, or one before 1970 or in the future; some are very late. If `unstamped`, some have no
    arrival.
    """
    rng = np.random.default_rng(seed)
    rows, clock = [], START
    for size in sizes:
        arrival = clock + np.sort(rng.choice(20_000, size, replace=False))
        event = arrival - rng.exponential(900, size).astype(np.int64)
        clock += 20_000
        swapped = rng.permutation(size)[: size // 3]
        arrival[np.sort(swapped)], event[np.sort(swapped)] = arrival[swapped], event[swapped]
        odd = rng.random(size)
        event = np.where(odd < 0.01, -1, np.where(odd < 0.02, arrival + YEAR, np.where(odd < 0.03, -5_000, event)))
        event[odd > 0.99] -= rng.integers(0, 10**9, np.count_nonzero(odd > 0.99))
        missing = unstamped & (odd > 0.5) & (odd < 0.52)
        rows.append((event, np.where(missing, -1, arrival), rng.integers(0, 4, size)))
    return rows


def written(spark: SparkSession, folder: Path, rows: list[Rows], parts: int = 1) -> DataFrame:
    """Return a stream of these batches, each in so many files and as many partitions."""
    pieces = [[column[part::parts] for column in batch] for batch in rows for part in range(parts)]
    for number, (event, arrival, host) in enumerate(pieces):
        columns = {
            "ts": pa.array(event * 1_000, pa.timestamp("us", "UTC"), mask=event == -1),
            "received": pa.array(arrival * 1_000, pa.timestamp("us", "UTC"), mask=arrival == -1),
            "host": pa.array([f"h{each}" for each in host]),
        }
        write_batch(folder, number, columns)
    return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", parts).parquet(str(folder))


def expected(rows: list[Rows], estimator: str, dratio: str = "1%", resumed: int = 0) -> list[Account]:
    """Return the account after each batch, of a controller that gets the rows directly.

    The run that ends before the batch `resumed` has an empty batch at its end, in which the last punctuation acts.
    """
    alone = Controlled(policy_of(dratio, estimator=estimator), in_arrival_order=True, kept=None)
    found: list[Account] = []
    for number, (event, arrival, _) in enumerate(rows):
        now = found[-1].punctuation if found else 0
        passed = now if number == resumed else found[-2].punctuation if len(found) > 1 else 0
        timed = event != -1
        stamped = np.where(arrival == -1, arrival[timed].max(), arrival)[timed]
        # Rows without an arrival come after those of the latest one.
        order = np.lexsort((arrival[timed] == -1, stamped))
        lost = int(np.count_nonzero(event[timed] < min(now, passed)))
        found.append(alone.enter(Reading(Batch(len(event), event[timed][order], stamped[order]), lost=lost)))
    return found


def counted(df: DataFrame) -> DataFrame:
    return df.groupBy(F.window("ts", "10 seconds")).count()


def ended(df: DataFrame, checkpoint: Path) -> StreamingQuery:
    write = df.writeStream.format("noop").option("checkpointLocation", str(checkpoint))
    query = write.trigger(availableNow=True).start()
    query.awaitTermination()
    return query


@pytest.mark.parametrize(("estimator", "parts"), [("budget", 1), ("budget", 3), ("adaptive", 2)])
def test_a_gauge_reads_what_the_rows_say(spark, tmp_path, estimator, parts):
    """`budget` takes batches that were added up, `adaptive` all rows; each is resumed halfway from its checkpoint."""
    rows = batches(seed=3, sizes=(2_000, 3_000, 12_000, 3, 70, 9_000), unstamped=parts == 1)
    stream = written(spark, tmp_path / "in", rows[:3], parts)
    controlled = counted(with_disorder_control(stream, "ts", "1%", arrival="received", estimator=estimator))
    first = ended(controlled, tmp_path / "check")
    written(spark, tmp_path / "in", rows, parts)
    then = ended(controlled, tmp_path / "check")
    alone = expected(rows, estimator, resumed=3)
    assert accounts(first) == {}, "the query has begun anew since"
    assert accounts(then) == {"ts": alone[-1]}
    marks = [event["eventTime"]["watermark"] for event in then.recentProgress if event["numInputRows"]]
    assert marks == [watermark(each.punctuation) for each in alone[2:-1]]


def accounts(query: StreamingQuery) -> dict[str, Account]:
    """Return the accounts of a query's controls by the names of their streams."""
    found = gauge.controls_of(SparkSession.active()).accounts(str(query.runId))
    return {stream_of(name): account for name, account in found.items()}


def watermark(time: int) -> str:
    """Return a time as Spark writes it in its progress."""
    return f"{np.datetime64(time, 'ms')}Z"


def test_a_large_first_batch_is_counted_exactly_though_not_every_row_is_looked_at(spark, tmp_path, monkeypatch):
    rows = batches(seed=11, sizes=(9_000, 4_000), unstamped=False)
    stream = written(spark, tmp_path / "in", rows)
    monkeypatch.setattr(gauge, "MOST", 1_000)
    query = ended(counted(with_disorder_control(stream, "ts", "5%", arrival="received")), tmp_path / "check")
    found, alone = accounts(query)["ts"], expected(rows, "budget", "5%")
    assert (found.rows, found.untimed, found.suspect) == (alone[-1].rows, alone[-1].untimed, alone[-1].suspect)
    assert (found.newest, found.clock) == (alone[-1].newest, alone[-1].clock)
    first = [event["eventTime"]["watermark"] for event in query.recentProgress if event["numInputRows"]][1]
    punctuation = int(np.datetime64(first[:-1], "ms").astype(np.int64))
    (one, *_), (two, *_) = rows
    assert found.late == np.count_nonzero(one < -1) + np.count_nonzero((two != -1) & (two < punctuation))
    assert alone[0].punctuation > START
    assert abs(punctuation - alone[0].punctuation) < 3_000


def test_the_senders_of_rows_are_read_with_them(spark, tmp_path):
    rows = batches(seed=4, sizes=(1_500, 1_500))
    stream = written(spark, tmp_path / "in", rows)
    named = with_disorder_control(stream, "ts", "1%", arrival="received", source="host")
    query = ended(counted(named), tmp_path / "check")
    assert accounts(query)["ts"].rows == 3_000
    (control,) = (tmp_path / "check" / "control").iterdir()
    kept = StateFiles(Location(str(tmp_path / "check")), control.name).read(2)
    policy = policy_of("1%")
    restored = Controlled(policy, in_arrival_order=True, kept=kept)
    assert len(restored.controller._estimator._senders.key) == 4  # type: ignore[attr-defined]


def test_rows_of_a_batch_that_is_computed_twice_count_once(spark, tmp_path):
    rows = batches(seed=5, sizes=(800, 800, 800))
    stream = written(spark, tmp_path / "in", rows)
    controlled = with_disorder_control(stream, "ts", "1%", arrival="received")

    def twice(df: DataFrame, _: int) -> None:
        df.count()
        df.limit(1).collect()
        df.count()

    write = controlled.writeStream.foreachBatch(twice).option("checkpointLocation", str(tmp_path / "check"))
    query = write.trigger(availableNow=True).start()
    query.awaitTermination()
    assert accounts(query)["ts"] == expected(rows, "budget")[-1]


def test_two_queries_over_one_dataframe_have_an_account_each(spark, tmp_path):
    rows = batches(seed=6, sizes=(500, 500))
    stream = written(spark, tmp_path / "in", rows)
    controlled = with_disorder_control(stream, "ts", "1%", arrival="received")
    queries = [ended(counted(controlled), tmp_path / name) for name in ("one", "two")]
    assert [accounts(query) for query in queries] == [{"ts": expected(rows, "budget")[-1]}] * 2


def test_a_query_of_another_session_is_known_to_the_whole_application(spark, tmp_path):
    rows = batches(seed=6, sizes=(500, 500))
    other = spark.newSession()
    stream = written(other, tmp_path / "in", rows)
    query = ended(counted(with_disorder_control(stream, "ts", "1%", arrival="received")), tmp_path / "check")
    spark.sql("SELECT 1").collect()
    assert accounts(query) == {"ts": expected(rows, "budget")[-1]}
    assert gauge.controls_of(other) is gauge.controls_of(spark)


def test_two_streams_of_a_query_that_are_controlled_alike_have_an_account_each(spark, tmp_path):
    one, two = batches(seed=8, sizes=(700, 700)), batches(seed=9, sizes=(900, 400))
    streams = [written(spark, tmp_path / name, rows) for name, rows in (("one", one), ("two", two))]
    left, right = (with_disorder_control(each, "ts", "1%", arrival="received") for each in streams)
    query = ended(counted(left.union(right)), tmp_path / "check")
    found = {
        name: replace(each, lost=0) for name, each in accounts(query).items()
    }  # rows are lost by the clock of both
    alone = {"ts": expected(one, "budget")[-1], "ts#2": expected(two, "budget")[-1]}
    assert found == {name: replace(each, lost=0) for name, each in alone.items()}
    smallest = min(each.punctuation for each in accounts(query).values())
    assert query.lastProgress["eventTime"]["watermark"] == watermark(smallest)


def test_a_stream_with_a_watermark_of_its_own_holds_back_as_it_does_in_spark(spark, tmp_path):
    rows = batches(seed=7, sizes=(900, 900, 900))
    stream = written(spark, tmp_path / "in", rows)
    slow = stream.where("host = 'h1'").withWatermark("ts", "2 hours")
    both = counted(with_disorder_control(stream, "ts", "1%", arrival="received").union(slow))
    query = ended(both, tmp_path / "check")
    newest = max(event[(event < START + YEAR) | (host == 1)].max() for event, _, host in rows)
    mark = query.lastProgress["eventTime"]["watermark"]
    assert (
        mark == str(np.datetime64(min(int(newest) - 7_200_000, expected(rows, "budget")[-1].punctuation), "ms")) + "Z"
    )


def test_a_batch_that_its_sink_will_not_run_again_is_read_for_the_controllers(spark, tmp_path):
    """Killed when the sink had the last batch and Spark had not: the sink of files then skips it."""
    rows = batches(seed=5, sizes=(2_000, 3_000, 4_000, 1_000), unstamped=False)
    stream = written(spark, tmp_path / "in", rows[:3], parts=2)
    controlled = with_disorder_control(stream, "ts", "1%", arrival="received")
    check, out = tmp_path / "check", tmp_path / "out"
    into = controlled.writeStream.format("parquet").option("checkpointLocation", str(check))
    for given in (rows[:3], rows[:3], rows):
        written(spark, tmp_path / "in", given, parts=2)
        query = into.trigger(availableNow=True).start(str(out))
        query.awaitTermination()
        if given is not rows:
            for file in (*check.glob("commits/*2*"), *check.glob("control/*/2")):
                file.unlink()
    assert accounts(query) == {"ts": expected(rows, "budget")[-1]}
    assert spark.read.parquet(str(out)).count() == sum(len(event) for event, *_ in rows)
