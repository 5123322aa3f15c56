"""Both hosts of a controller, the gauge and the plan itself, on the same streams."""

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from tests.spark.streams import finish, read_batches, timestamps, write_batch

import slackwater as sw
from slackwater.algebra.nodes import Policy
from slackwater.errors import RunError
from slackwater.spark.session import ROCKSDB, STATE_STORE
from slackwater.spark.watermark import hosts
from slackwater.spark.watermark.hosts import GAUGE, HOST, ROWS, host_of
from slackwater.spark.watermark.rows_host import Punctuator, pack_clocks
from slackwater.spark.watermark.spec import Spec

SCHEMA = "ts timestamp, received timestamp, sender string, v long"
ROWS_IN = 2_000
BATCHES = 4
STREAM = """CREATE STREAM Cars (vehID INT, speed DOUBLE, timestamp TIMESTAMP)
USING generate OPTIONS (stream 'vehicles') TIMESTAMP BY timestamp;
SELECT COUNT(*) AS n FROM Cars [RANGE 1 minute SLIDE 1 minute];"""


@pytest.fixture(scope="module")
def stream(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """Return a stream with heavy-tailed delays, missing event and arrival times, rows a day ahead, an empty batch."""
    folder = tmp_path_factory.mktemp("stream")
    random = np.random.default_rng(19)
    event = np.sort(random.uniform(0, 200, ROWS_IN))
    received = event + random.pareto(1.5, ROWS_IN)
    order = np.argsort(received)
    event[random.random(ROWS_IN) < 0.01] += 86_400
    for number, (first, last) in enumerate(pairwise([0, 900, 1_400, 1_400, ROWS_IN])):
        some = order[first:last]
        columns = {
            "ts": timestamps([None if each % 97 == 0 else event[each] for each in some]),
            "received": timestamps([None if each % 89 == 0 else received[each] for each in some]),
            "sender": [f"sender {each % 5}" for each in some],
            "v": [int(each % 13) for each in some],
        }
        write_batch(folder, number, columns)
    return read_batches(spark, folder, SCHEMA)


@pytest.fixture
def in_plan(spark: SparkSession):
    spark.conf.set(HOST, ROWS)
    yield
    spark.conf.unset(HOST)


def dataframe(stream: DataFrame) -> DataFrame:
    controlled = sw.with_disorder_control(stream, "ts", "9%", arrival="received", source="sender")
    return controlled.groupBy(F.window("ts", "10 seconds")).agg(F.sum("v").alias("sum")).select("window.end", "sum")


def two_policies(stream: DataFrame) -> DataFrame:
    """Return a query with two controllers of one stream, the first of which is read twice."""
    query = """
        SELECT v, COUNT(sender) AS n FROM S [RANGE 4 seconds SLIDE 4 seconds DRATIO 9%] GROUP BY v
        UNION ALL SELECT v, COUNT(*) AS n FROM S [RANGE 4 seconds SLIDE 4 seconds DRATIO 20%] GROUP BY v
        UNION ALL SELECT v, SUM(v) AS n FROM S [RANGE 4 seconds SLIDE 4 seconds DRATIO 9%] GROUP BY v"""
    return sw.sql(query, S=sw.stream(stream, "ts", arrival="received"))


def changes(stream: DataFrame) -> DataFrame:
    query = "SELECT v, COUNT(*) AS n FROM S [RANGE 30 seconds DRATIO 9%] GROUP BY v EMIT CHANGES"
    return sw.sql(query, S=sw.stream(stream, "ts", arrival="received"))


def late_rows(stream: DataFrame) -> DataFrame:
    return sw.late(sw.with_disorder_control(stream, "ts", "9%", arrival="received", source="sender"))


@pytest.mark.slow
@pytest.mark.parametrize("query", [dataframe, two_policies, changes, late_rows])
def test_both_hosts_give_the_same_punctuations_rows_and_accounts(spark, stream, tmp_path, query):
    told = {}
    for host in (GAUGE, ROWS):
        spark.conf.set(HOST, host)
        try:
            ran = finish(query(stream), tmp_path / host, f"{query.__name__}_{host}")
        finally:
            spark.conf.unset(HOST)
        # A last batch without rows comes only if the plan has a stateful operator; accounts have its watermark.
        marks = [(each["batchId"], each["eventTime"].get("watermark")) for each in ran.recentProgress][:BATCHES]
        rows = sorted(map(tuple, spark.table(f"{query.__name__}_{host}").collect()), key=repr)
        told[host] = marks, rows, sw.accounts(ran)
    assert told[GAUGE] == told[ROWS]
    assert told[ROWS][1]
    for account in told[ROWS][2].values():
        assert account.rows == ROWS_IN
        assert account.late > account.lost > 0
        assert account.untimed > 0
        assert account.suspect > 0


class Kept:
    """A value of Spark's state, as `Punctuator` uses it."""

    value: tuple[str, bytes] | None = None

    def getValueState(self, name: str, schema: str) -> "Kept":  # noqa: N802
        return self

    def get(self) -> tuple[str, bytes] | None:
        return self.value

    def update(self, value: tuple[str, bytes]) -> None:
        self.value = value


def test_the_state_of_another_control_is_refused():
    kept, clocks = Kept(), pa.table({"part": [0, 0], "event": [5_000, 7_000], "arrival": [6_000, 9_000]})
    packed = pd.concat([batch.to_pandas() for batch in pack_clocks(0, iter(clocks.to_batches()))])
    for control, rows in (("first", 2), ("first", 4), ("second", None)):
        stepping = Punctuator([Spec(control, Policy(dratio=0.01), in_arrival_order=True, named=False).text])
        stepping.init(kept)  # type: ignore[arg-type]
        if rows is None:
            with pytest.raises(RunError, match=r"SW-526.*'first', not of 'second'"):
                next(stepping.handleInputRows((0,), iter([packed]), None))
        else:
            found = next(stepping.handleInputRows((0,), iter([packed]), None))
            assert json.loads(found["account"][0])["rows"] == rows


def test_what_runs_the_controllers_is_chosen_by_session_setting_and_version(spark, tmp_path, in_plan, monkeypatch):
    assert host_of(spark) == ROWS
    with pytest.raises(RunError, match=r"SW-505.*the pipeline .query."):
        sw.run(
            STREAM,
            checkpoint=tmp_path,
        )
    spark.conf.set(HOST, "sextant")
    with pytest.raises(RunError, match=r"SW-504.*sextant"):
        host_of(spark)
    spark.conf.unset(HOST)
    assert host_of(spark) == GAUGE
    monkeypatch.setattr(hosts, "pyspark", type("Newer", (), {"__version__": "9.1.0"}))
    with pytest.warns(UserWarning, match="not tested with Spark 9.1.0.*run in the plan"):
        assert host_of(spark) == ROWS


def test_explain_names_the_host(spark):
    assert "host: the gauge" in " ".join(sw.explain(STREAM, physical=True).split())
    forced = " ".join(sw.explain(f"SET {HOST} = '{ROWS}'; {STREAM}", physical=True).split())
    spark.conf.unset(HOST)
    assert "host: rows of the plan" in forced
    assert "TransformWithStateInPySpark" in forced


def test_the_state_store_that_the_controller_needs_is_named(spark, stream, in_plan):
    spark.conf.unset(STATE_STORE)
    try:
        with pytest.raises(RunError, match=r"SW-501.*state of the controller"):
            sw.with_disorder_control(stream, "ts")
    finally:
        spark.conf.set(STATE_STORE, ROCKSDB)
