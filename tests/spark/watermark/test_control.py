"""`with_disorder_control` under Spark's own operators."""

import logging
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from tests.spark.streams import finish, read_batches, timestamps, write_batch

from slackwater.errors import SlackwaterError
from slackwater.spark.operator.late import late
from slackwater.spark.run.progress import accounts
from slackwater.spark.watermark import control
from slackwater.spark.watermark.control import with_disorder_control

SCHEMA = "ts timestamp, received timestamp, speed double, note string"
# Slack 1: the punctuation is the largest time but for the one row that the buffer keeps.
# Punctuations after the batches: 12, 24, 45. Row 3 of the second batch: its window [0, 10) was not emitted in an
# earlier batch, so it counts; the last row of the third batch is late and its window is gone.
BATCHES = (
    ([1, 8, 12, 13], [1.0, 2.0, 3.0, 4.0]),
    ([14, 24, 3, 25], [5.0, 6.0, 7.0, 8.0]),
    ([45, 2, 46], [9.0, 10.0, 11.0]),
)
WINDOWS = [(0, 2.0 + 1.0 + 7.0, 3), (10, 3.0 + 4.0 + 5.0, 3), (20, 6.0 + 8.0, 2)]


@pytest.fixture
def stream(spark: SparkSession, tmp_path: Path) -> DataFrame:
    for number, (seconds, speeds) in enumerate(BATCHES):
        times = timestamps(seconds)
        received = timestamps(range(100 * number, 100 * number + len(seconds)))
        notes = pa.array(["x"] * len(seconds))
        write_batch(tmp_path / "in", number, {"ts": times, "received": received, "speed": speeds, "note": notes})
    return read_batches(spark, tmp_path / "in", SCHEMA)


def by_window(df: DataFrame) -> DataFrame:
    return df.groupBy(F.window("ts", "10 seconds")).agg(F.sum("speed").alias("total"), F.count("*").alias("rows"))


def found(spark: SparkSession, name: str) -> list[tuple[int, float, int]]:
    rows = spark.table(name).selectExpr("unix_seconds(window.start) % 1700000000", "total", "rows").collect()
    return sorted(tuple(row) for row in rows)


def test_punctuations_close_native_windows_and_a_row_of_a_closed_window_is_lost(spark, stream, tmp_path):
    query = finish(by_window(with_disorder_control(stream, "ts", slack=1)), tmp_path / "check", "closed")
    assert found(spark, "closed") == WINDOWS
    assert query.lastProgress["eventTime"]["watermark"] == "2023-11-14T22:14:05.000Z"


def test_a_column_may_be_named_as_with_watermark_has_it(spark, stream, tmp_path):
    aliased = stream.withColumn("s", F.struct("ts")).withColumn("t.s", F.col("ts")).alias("a")
    for name, column in {"a.ts": "ts", "`ts`": "ts", "TS": "ts", "A.`TS`": "ts", "`t.s`": "t.s", "t.s": "t.s"}.items():
        if name != column:
            aliased.withWatermark(name, "1 second")
        marks = {each.name: each.metadata for each in with_disorder_control(aliased, name, slack=1).schema}
        assert [each for each, metadata in marks.items() if metadata] == [column], name
    for name in ("s.ts", "b.ts", "a.*"):
        with pytest.raises((AnalysisException, Py4JJavaError)):  # Spark 4.0 meets an error of its own for a field
            aliased.withWatermark(name, "1 second").schema  # noqa: B018
        with pytest.raises(SlackwaterError, match="SW-430"):
            with_disorder_control(aliased, name, slack=1)
    controlled = with_disorder_control(aliased, "a.ts", arrival="a.received", slack=1).where("a.note = 'x'")
    windows = controlled.groupBy(F.window("a.ts", "10 seconds"))
    query = finish(windows.agg(F.sum("a.speed").alias("total"), F.count("*").alias("rows")), tmp_path / "c", "aliased")
    assert found(spark, "aliased") == WINDOWS
    assert set(accounts(query)) == {"ts"}


def test_a_predicate_on_a_data_column_does_not_stop_the_watermark(spark, stream, tmp_path):
    controlled = with_disorder_control(stream, "ts", slack=1).where("note = 'x' AND speed IS NOT NULL")
    finish(by_window(controlled), tmp_path / "check", "filtered")
    assert found(spark, "filtered") == WINDOWS


@pytest.mark.parametrize(("barrier", "windows"), [(control.BARRIER, WINDOWS), (f"{control.CLOCK} IS NULL", [])])
def test_where_punctuations_are_rows_only_a_barrier_saves_them_from_predicates(
    spark, stream, tmp_path, monkeypatch, barrier, windows
):
    for number, time in enumerate((12, 24, 45)):
        write_batch(tmp_path / "clock", number, {control.CLOCK: timestamps([time])})
    clock = read_batches(spark, tmp_path / "clock", f"{control.CLOCK} timestamp")
    monkeypatch.setattr(control, "BARRIER", barrier)
    clocked = control.with_clock_watermark(stream, "ts", clock).where("note = 'x' AND speed IS NOT NULL")
    finish(by_window(clocked), tmp_path / "check", "clocked")
    assert found(spark, "clocked") == windows


def test_update_mode_shows_windows_as_they_grow(spark, stream, tmp_path):
    finish(by_window(with_disorder_control(stream, "ts", slack=1)), tmp_path / "check", "grown", mode="update")
    assert found(spark, "grown") == sorted(
        [(0, 3.0, 2), (10, 7.0, 2), (0, 10.0, 3), (10, 12.0, 3), (20, 14.0, 2), (40, 20.0, 2)]
    )


def test_two_controlled_streams_join_on_equal_windows(spark, stream, tmp_path):
    left = by_window(with_disorder_control(stream, "ts", slack=1))
    right = by_window(with_disorder_control(stream, "ts", slack=1).where("speed > 2"))
    joined = left.join(right.select("window", F.col("rows").alias("fast")), "window")
    finish(joined.select("window", "total", "fast"), tmp_path / "check", "joined")
    rows = spark.table("joined").selectExpr("unix_seconds(window.start) % 1700000000", "total", "fast").collect()
    assert sorted(tuple(row) for row in rows) == [(0, 10.0, 1), (10, 12.0, 3), (20, 14.0, 2)]


def test_duplicates_are_dropped_within_the_watermark(spark, stream, tmp_path):
    distinct = with_disorder_control(stream.union(stream), "ts", slack=1).dropDuplicates(["ts", "speed"])
    finish(distinct, tmp_path / "check", "distinct")
    assert sorted(row.speed for row in spark.table("distinct").collect()) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 11]


def test_duplicates_are_remembered_for_the_delay_of_the_watermark(spark, tmp_path):
    """As with withWatermark("ts", "3 seconds"): slack 2 gives the same watermark, 17 s, after the first batch. When it
    has passed d at 60 s by the delay, d is new again."""
    batches = [("abc", [17, 19, 20]), ("", []), ("a", [20]), ("d", [60]), ("efg", [100, 101, 102])]
    batches += [("", []), ("d", [103])]
    for number, (keys, seconds) in enumerate(batches):
        columns = {"key": pa.array(list(keys), pa.string()), "ts": timestamps(seconds)}
        write_batch(tmp_path / "in", number, columns)
    stream = read_batches(spark, tmp_path / "in", "key string, ts timestamp")
    ways = {"fixed": stream.withWatermark("ts", "3 seconds"), "slack": with_disorder_control(stream, "ts", slack=2)}
    for name, df in ways.items():
        query = finish(df.dropDuplicatesWithinWatermark(["key"]), tmp_path / name, f"{name}_keys")
        assert query.lastProgress["stateOperators"][0]["operatorName"] == "dedupeWithinWatermark"
        rows = spark.table(f"{name}_keys").selectExpr("key", "unix_seconds(ts) % 1700000000 AS t").collect()
        seconds = sorted((row.t, row.key) for row in rows)
        assert seconds == [(17, "a"), (19, "b"), (20, "c"), (60, "d"), (100, "e"), (101, "f"), (102, "g"), (103, "d")]


def test_late_rows_of_a_dataframe_are_a_stream_and_an_account_has_times(spark, tmp_path):
    """Slack 1: 9 and 16 are behind 17 s, where the first batch has put the punctuation. 5 is so a batch later: lost."""
    for number, seconds in enumerate([[10, 17, 20], [9, 30, 16], [18, 40, 5]]):
        write_batch(tmp_path / "in", number, {"ts": timestamps(seconds), "v": pa.array(seconds, pa.int64())})
    stream = read_batches(spark, tmp_path / "in", "ts timestamp, v long")
    controlled = with_disorder_control(stream, "ts", slack=1)
    query = finish(late(controlled), tmp_path / "check", "too_late")
    account = accounts(query)["ts"]
    rows = spark.table("too_late").selectExpr("v", "late_by", "unix_micros(punctuation) - unix_micros(ts) AS behind")
    found = {row.v: (row.late_by, row.behind) for row in rows.collect()}
    assert set(found) == {5, 9, 16, 18} and (account.late, account.lost) == (4, 1)
    assert all(late_by == behind > 0 for late_by, behind in found.values())
    assert account.newest == datetime.fromtimestamp(1_700_000_040, UTC) and account.punctuation < account.newest
    with pytest.raises(SlackwaterError, match="SW-498"):
        late(stream)


def test_hostile_times_move_nothing(spark, tmp_path):
    """NULL, year 9999 and times before 1970 neither fail the query nor make an honest row late."""
    hostile = pa.array([None, 253_402_300_799_999_999, -1, -62_135_596_800_000_000], pa.timestamp("us", "UTC"))
    for number in range(3):
        honest = timestamps(range(20 * number, 20 * number + 20))
        times = pa.concat_arrays([honest, hostile])
        received = pa.concat_arrays([honest, timestamps([20 * number + 19] * 4)])
        write_batch(tmp_path / "in", number, {"ts": times, "received": received, "speed": [1.0] * 24})
    stream = read_batches(spark, tmp_path / "in", "ts timestamp, received timestamp, speed double")
    controlled = with_disorder_control(stream, "ts", slack=2, arrival="received")
    query = finish(by_window(controlled), tmp_path / "check", "hostile")
    assert found(spark, "hostile") == [(start, 10.0, 10) for start in (0, 10, 20, 30, 40)]
    account = accounts(query)["ts"]
    assert (account.rows, account.late, account.untimed, account.suspect) == (72, 6, 3, 3)


def test_a_batch_dataframe_is_left_as_it_is(spark):
    df = spark.sql("SELECT timestamp'2024-01-01' AS ts")
    assert with_disorder_control(df, "ts", "1%") is df


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        ({"event_time": "tss"}, "SW-430", "did you mean 'ts'?"),
        ({"event_time": "speed"}, "SW-431", "timestamp_millis(speed)"),
        ({"event_time": "note"}, "SW-431", "to_timestamp(note)"),
        ({"event_time": "ts", "arrival": "arrived"}, "SW-430", "arrival"),
        ({"event_time": "ts", "dratio": "101%"}, "SW-113", "101%"),
        ({"event_time": "ts", "dratio": "5"}, "SW-113", "such as 1%"),
        ({"event_time": "ts", "dratio": 1}, "SW-113", "write '1%'"),
        ({"event_time": "ts", "dratio": "10 seconds"}, "SW-113", "not a delay: write 1% WITHIN 10 seconds"),
        ({"event_time": "ts", "dratio": -0.1}, "SW-113", "above 0% and below 100%"),
        ({"event_time": "ts", "estimator": "adaptiv"}, "SW-422", "adaptive"),
        ({"event_time": "ts", "idle": "3 rows"}, "SW-223", "30 seconds"),
        ({"event_time": "ts", "dratio": "1%", "within": "3 rows"}, "SW-223", "30 seconds"),
        ({"event_time": "ts", "dratio": "1%", "within": "0 seconds"}, "SW-111", "above 0"),
        ({"event_time": "ts", "within": "3 seconds"}, "SW-244", "DRATIO"),
    ],
)
def test_mistakes_are_told_when_the_query_is_written(stream, options, code, told, monkeypatch):
    logged = []
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        monkeypatch.setattr(logging.getLogger(name), "handle", logged.append)
    with pytest.raises(SlackwaterError) as caught:
        with_disorder_control(stream, **options)
    assert caught.value.code == code
    assert told in str(caught.value)
    assert not logged
