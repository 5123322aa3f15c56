"""The source of Kafka against a broker, without Spark: which messages a batch has, and what if they are gone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.types import ArrayType, BinaryType, IntegerType, LongType, StringType, StructType, TimestampType
from tests.spark.io.kafka.broker import Broker, running_broker

from slackwater.errors import InputError, RunError
from slackwater.spark.io.kafka.client import Client
from slackwater.spark.io.kafka.sink import send_messages
from slackwater.spark.io.kafka.source import Kafka, KafkaReader

pytestmark = pytest.mark.long

SERVERS = "kafka.bootstrap.servers"
HEADER = StructType().add("key", StringType()).add("value", BinaryType())
MESSAGE = (
    StructType()
    .add("key", BinaryType())
    .add("value", BinaryType())
    .add("topic", StringType())
    .add("partition", IntegerType())
    .add("offset", LongType())
    .add("timestamp", TimestampType())
    .add("headers", ArrayType(HEADER))
)


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with running_broker() as running:
        yield running


def reader(broker: Broker, topics: str, **options: str) -> KafkaReader:
    source = Kafka({SERVERS: broker.address, "subscribe": topics, "startingOffsets": "earliest", **options})
    made = source.streamReader(MESSAGE)
    assert isinstance(made, KafkaReader)
    return made


def rows(reader: KafkaReader, start: dict[str, Any], end: dict[str, Any]) -> list[dict[str, Any]]:
    parts = reader.partitions(start, end)
    return [row for part in parts for batch in reader.read(part) for row in batch.to_pylist()]


def test_a_message_comes_with_all_that_spark_would_tell_of_it(broker: Broker):
    broker.send("plain", ["a", "b", "c", "d", "e"], keys=list("vwxyz"))
    source = reader(broker, "plain")
    start = source.initialOffset()
    end = source.latestOffset(start)
    assert end == {"plain": {"0": 2, "1": 1, "2": 1, "3": 1}}
    found = sorted(rows(source, start, end), key=lambda row: row["value"])
    assert [row["value"] for row in found] == [b"a", b"b", b"c", b"d", b"e"]
    last = found[-1]
    assert (last["key"], last["topic"], last["partition"], last["offset"]) == (b"z", "plain", 0, 1)
    assert last["timestamp"].timestamp() * 1_000 == 1_700_000_000_004
    assert last["headers"] == [{"key": "place", "value": b"4"}]
    assert source.latestOffset(end) == end
    assert source.partitions(end, end) == []
    assert reader(broker, "plain", startingOffsets="latest").initialOffset() == end
    named = reader(broker, "plain", startingOffsets='{"plain": {"0": 1, "2": -2, "3": -1}}').initialOffset()
    assert named == {"plain": {"0": 1, "1": 1, "2": 0, "3": 1}}


def test_a_batch_has_no_more_messages_than_stated_and_the_end_of_what_is_there_stays(broker: Broker):
    broker.send("much", [str(number) for number in range(400)])
    source = reader(broker, "much", maxOffsetsPerTrigger="100")
    source.prepareForTriggerAvailableNow()
    broker.send("much", ["more"] * 40)
    at, seen = source.initialOffset(), []
    while (end := source.latestOffset(at)) != at:
        seen.append([row["value"] for row in rows(source, at, end)])
        at = end
    assert [len(each) for each in seen] == [100, 100, 100, 100]
    assert sorted(int(value) for each in seen for value in each) == list(range(400))


def test_partitions_that_are_added_while_it_runs_are_read_from_their_beginning(broker: Broker):
    broker.send("first", ["one"])
    source = reader(broker, "first,second")
    start = source.initialOffset()
    assert set(start) >= {"first"}
    middle = source.latestOffset(start)
    broker.send("second", ["two", "three"])
    end = source.latestOffset(middle)
    assert sorted(row["value"] for row in rows(source, middle, end)) == [b"three", b"two"]
    resumed = reader(broker, "first,second")
    assert resumed.partitions(end, end) == []
    assert resumed.latestOffset() == end, "a query that resumes on Spark 4.0 is told by an empty batch where it was"


def test_messages_that_kafka_has_deleted_stop_the_query_unless_that_is_allowed(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
):
    broker.send("short", ["0", "1", "2", "3", "4", "5", "6", "7"])
    for strict in ("true", "false"):
        source = reader(broker, "short", failOnDataLoss=strict)
        low, high = source._ends()
        low["short", 0] = 1
        monkeypatch.setattr(source, "_ends", lambda low=low, high=high: (low, high))
        start = {"short": {"0": 0, "1": 0, "2": 0, "3": 0}}
        if strict == "true":
            with pytest.raises(RunError, match="SW-541: messages of short-0 are lost: 0 is wanted"):
                source.partitions(start, source.latestOffset(start))
        else:
            found = rows(source, start, source.latestOffset(start))
            assert sorted(row["value"] for row in found) == [b"1", b"2", b"3", b"4", b"5", b"6", b"7"]
    beyond = {"short": {"0": 9, "1": 2, "2": 2, "3": 2}}
    with pytest.raises(RunError, match="SW-541"):
        rows(reader(broker, "short"), {"short": {"0": 0, "1": 2, "2": 2, "3": 2}}, beyond)


def test_a_broker_that_goes_away_is_waited_for_and_then_told(broker: Broker):
    broker.send("tides", ["high", "low"])
    patient = reader(broker, "tides")
    source = reader(broker, "tides", **{"kafkaConsumer.pollTimeoutMs": "1500"})
    start = patient.initialOffset()
    end = source.latestOffset(start)
    broker.pause()
    try:
        with pytest.raises(RunError, match=r"SW-540: Kafka did not answer within 1\.5 seconds"):
            source.latestOffset(start)
        with pytest.raises(RunError, match="SW-540"):
            rows(source, start, end)
    finally:
        broker.go_on()
    assert sorted(row["value"] for row in rows(patient, start, end)) == [b"high", b"low"]


def test_what_is_sent_in_a_transaction_is_read_when_it_is_committed(broker: Broker):
    client = Client.of("test", {SERVERS: broker.address})
    batch = pa.RecordBatch.from_pydict({"key": ["k", None], "value": ["one", "two"]})
    producer = client.producer("slackwater-run-sink")
    producer.init_transactions(10)
    producer.begin_transaction()
    sent = list(send_messages(client, "together", [("slackwater-batch", "7")], 10, iter([batch]), producer=producer))
    assert sent[0].column("sent").to_pylist() == [2]
    producer.commit_transaction(10)
    list(send_messages(client, "together", [], 10, iter([batch])))
    found = broker.read("together")
    assert sorted(each.value() for each in found) == [b"one", b"one", b"two", b"two"]
    assert [each.headers() for each in found].count([("slackwater-batch", b"7")]) == 2
    source = reader(broker, "together")
    start = source.initialOffset()
    assert len(rows(source, start, source.latestOffset(start))) == 4, "markers of transactions are no messages"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"subscribe": "t"}, "SW-441: source kafka needs the option 'kafka.bootstrap.servers'"),
        ({SERVERS: "x:1", "kafka.sasl.password": "low"}, "SW-491: .* has the secret 'kafka.sasl.password'"),
        ({SERVERS: "x:1", "kafka.sasl.password_env": "NO_SUCH_TIDE"}, "SW-492: .* 'NO_SUCH_TIDE', which is not set"),
        ({SERVERS: "x:1", "kafka.sasl.jaas": "user"}, "SW-491"),
        ({SERVERS: "x:1", "kafka.no.such.thing": "1"}, "SW-493: .* No such configuration property"),
        ({SERVERS: "x:1", "subscrib": "t"}, "SW-440: source kafka has no option 'subscrib'"),
        ({SERVERS: "x:1", "subscribe": "t", "startingOffsets": "soon"}, "SW-442: option startingOffsets"),
        ({SERVERS: "x:1", "subscribe": "t", "maxOffsetsPerTrigger": "0"}, "SW-442"),
        ({SERVERS: "x:1"}, "SW-441: source kafka needs the option 'subscribe'"),
    ],
)
def test_what_is_wrong_with_the_options_is_told_before_anything_is_connected(options: dict[str, str], told: str):
    with pytest.raises(InputError, match=told) as caught:
        Kafka(options).streamReader(MESSAGE)
    assert "low" not in str(caught.value).replace("followed", "")


def test_a_secret_from_the_environment_is_in_the_client_and_nowhere_else(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TIDE_PASSWORD", "spring-tide")
    source = Kafka(
        {SERVERS: "x:1", "subscribe": "t", "kafka.sasl.password_env": "TIDE_PASSWORD", "kafka.sasl.username": "u"}
    )
    made = source.streamReader(MESSAGE)
    assert source.client._all({})["sasl.password"] == os.environ["TIDE_PASSWORD"]
    assert "spring-tide" not in repr(source.client) + str(made.__getstate__()) + str(source.options)
