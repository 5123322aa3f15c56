"""The sources inside Spark: schema as declared, batches as cut, offsets that resume."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F  # noqa: N812
from tests.spark.streams import finish

from slackwater.algebra.catalog import StreamDef
from slackwater.algebra.schema import Field
from slackwater.disorder import controller
from slackwater.disorder.replay.replaying import batches_by_time, measure
from slackwater.disorder.replay.replaying import replay as replayed
from slackwater.errors import InputError
from slackwater.spark.io.sources.recipe import GENERATE, Recipe
from slackwater.spark.io.streams import read_stream
from slackwater.spark.options import Options
from slackwater.spark.run.progress import accounts
from slackwater.spark.shim.reader import TELLS_AVAILABLE_NOW
from slackwater.spark.watermark.control import with_disorder_control
from slackwater.testing.disordered import normal

TRACES = Path(__file__).parents[5] / "shared" / "traces"


def declared(columns: str, using: str, **options: str) -> StreamDef:
    fields = (each.strip().split(" ") for each in columns.split(","))
    return StreamDef("S", tuple(Field(name, kind) for name, kind in fields), using, options)


def test_generate_gives_the_declared_columns_in_batches_of_the_stated_time(spark, tmp_path):
    options = {"rate": "100", "rows": "450", "pace": "max", "batch": "2 seconds", "event": "ts", "seed": "3"}
    stream = read_stream(spark, declared("TS timestamp, speed float, VEHID bigint", "generate", **options))
    query = finish(stream.withColumn("batch", F.lit(1)), tmp_path / "check", "generated")
    rows = spark.table("generated").orderBy("TS").collect()
    expected = Recipe.of(Options(GENERATE, options)).between(0, 10**9)
    assert [row.VEHID for row in rows] == expected["vehID"][expected["ts"].argsort(kind="stable")].tolist()
    assert rows[0].speed == pytest.approx(expected["speed"][expected["ts"].argmin()])
    assert [event["numInputRows"] for event in query.recentProgress if event["numInputRows"]] == [200, 200, 50]


def trace(tmp_path: Path) -> Path:
    real = TRACES / "umts-phones-1.csv.gz"
    if real.exists():
        return real
    stream = normal(9_600, mu=2.0, sigma=0.5, rate=100.0, seed=5)
    file = tmp_path / "trace.csv"
    pa.csv.write_csv(pa.table({"event_ms": stream.event, "arrival_ms": stream.arrival}), file)
    return file


def test_a_replayed_trace_is_controlled_as_by_the_controller_alone(spark, tmp_path):
    """The late share on Spark is the one that the controller has with the same batches, and within the bound."""
    path = trace(tmp_path)
    options = {"path": str(path), "event": "event_ms", "arrival": "arrival_ms", "batch": "40 seconds"}
    stream = read_stream(spark, declared("event_ms timestamp, arrival_ms timestamp", "replay", **options))
    controlled = with_disorder_control(stream, "event_ms", "1%", arrival="arrival_ms", estimator="adaptive")
    counted = controlled.groupBy(F.window("event_ms", "10 seconds")).count()
    query = finish(counted, tmp_path / "check", "replayed")
    (account,) = accounts(query).values()

    times = pa.csv.read_csv(path)
    event, arrival = times["event_ms"].to_numpy(), times["arrival_ms"].to_numpy()
    batches = batches_by_time(event, arrival, 40_000)
    punctuation, alone = replayed(batches, controller(0.01, "adaptive", unit="ms"))
    assert (account.rows, account.late) == (alone.rows, alone.late)
    assert account.punctuation == datetime.fromtimestamp(punctuation[-1] / 1_000, UTC)
    assert alone.late_share <= 0.01
    assert account.held_time / timedelta(milliseconds=1) / account.on_time == pytest.approx(
        measure(batches, punctuation).mean_hold, rel=0.01
    )


def test_what_a_source_cannot_read_is_told_when_the_stream_is_opened(spark):
    with pytest.raises(InputError, match="no column 'colour'"):
        read_stream(spark, declared("colour string", "generate"))
    with pytest.raises(InputError, match="SW-433"):
        read_stream(spark, declared("x int", "carrier_pigeon"))


def test_a_stream_without_an_end_cannot_be_read_to_its_end(spark, tmp_path):
    endless = declared("timestamp timestamp", "generate")
    with pytest.raises(InputError, match="SW-444"):
        read_stream(spark, endless, available_now=True)
    if TELLS_AVAILABLE_NOW:
        with pytest.raises(StreamingQueryException, match="give the option rows"):
            finish(read_stream(spark, endless), tmp_path / "check", "endless")
