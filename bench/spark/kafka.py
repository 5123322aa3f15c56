"""How many messages a second the source and the sink of Kafka take, against the broker of librdkafka's tests."""

from __future__ import annotations

import time

import pyarrow as pa
from confluent_kafka import Producer
from pyspark.sql.types import BinaryType, LongType, StructType, TimestampType

from slackwater.spark.io.kafka.client import Client
from slackwater.spark.io.kafka.sink import send_messages
from slackwater.spark.io.kafka.source import Kafka

MESSAGES = 120_000
"""The broker keeps 5 MB of a partition, and deletes what is older."""
PAGE = 10_000
VALUE = '{"id": 7, "speed": 61.5, "ts": "2026-01-01T00:00:00Z", "segment": 12, "lane": 2}'


def main() -> None:
    host = Producer({"test.mock.num.brokers": "1", "bootstrap.servers": "none", "log_level": "0"})
    (broker,) = host.list_topics(timeout=30).brokers.values()
    options = {"kafka.bootstrap.servers": f"{broker.host}:{broker.port}", "subscribe": "bench"}
    print(f"{MESSAGES:,} messages of {len(VALUE)} bytes, 4 partitions, one process")
    sent = timed(lambda: send(options))
    print(f"sink    {MESSAGES / sent:>10,.0f} messages a second")
    read = timed(lambda: receive({**options, "startingOffsets": "earliest"}))
    print(f"source  {MESSAGES / read:>10,.0f} messages a second, with offset and timestamp")


def timed(work: object) -> float:
    began = time.perf_counter()
    work()  # type: ignore[operator]
    return time.perf_counter() - began


def send(options: dict[str, str]) -> None:
    page = pa.RecordBatch.from_pydict({"key": [str(number % 64) for number in range(PAGE)], "value": [VALUE] * PAGE})
    client = Client.of("bench", options)
    for _ in send_messages(client, "bench", [("slackwater-batch", "0")], 60, iter([page] * (MESSAGES // PAGE))):
        """All of them."""


def receive(options: dict[str, str]) -> None:
    schema = StructType().add("value", BinaryType()).add("offset", LongType()).add("timestamp", TimestampType())
    reader = Kafka(options).streamReader(schema)
    start = reader.initialOffset()
    parts = reader.partitions(start, reader.latestOffset(start))
    read = sum(batch.num_rows for part in parts for batch in reader.read(part))
    assert read == MESSAGES, read


if __name__ == "__main__":
    main()
