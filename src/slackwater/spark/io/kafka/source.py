"""A streaming source of Kafka messages, with the columns of Spark's own connector."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, InputPartition
from pyspark.sql.types import StructType

from slackwater.errors import RunError
from slackwater.spark.io.kafka.client import BROKERS, PREFIX, Client
from slackwater.spark.io.kafka.offsets import Offsets, cap, from_document, parse_starting, start_at, to_document
from slackwater.spark.options import Option, OptionKind, Options, OptionTable
from slackwater.spark.shim.reader import StreamReader
from slackwater.spark.shim.schema import arrow_schema

VALUE = "value."
VALUES = OptionTable(
    "kafka",
    (
        Option("value.format", OptionKind.CHOICE, "json", "How messages are written.", ("json", "csv", "avro")),
        Option("value.schema", OptionKind.TEXT, None, "The Avro schema of messages, as JSON."),
    ),
    prefixes=(VALUE,),
)
"""The options for parsing messages. Other options that begin with `value.` go to Spark's parser of the format."""
TABLE = OptionTable(
    "kafka",
    (
        BROKERS,
        Option("subscribe", OptionKind.TEXT, None, "The topics to read, with commas between them.", required=True),
        Option("startingOffsets", OptionKind.TEXT, "latest", "Where a new query begins: earliest, latest or JSON."),
        Option(
            "maxOffsetsPerTrigger", OptionKind.WHOLE, None, "The most messages of a batch; all without it.", least=1
        ),
        Option("failOnDataLoss", OptionKind.FLAG, "true", "Whether a query fails if messages are gone unread."),
        Option(
            "kafkaConsumer.pollTimeoutMs",
            OptionKind.WHOLE,
            "120000",
            "How long to wait for a broker's answer.",
            least=1,
        ),
        *VALUES.options,
    ),
    prefixes=(PREFIX, VALUE),
)
COLUMNS = {"key": "binary", "value": "binary", "topic": "string", "partition": "int", "offset": "bigint"} | {
    "timestamp": "timestamp",
    "headers": "array<struct<key: string, value: binary>>",
}
"""The columns of Spark's own connector."""
PAGE = 10_000
"""The most messages of one Arrow batch. Larger: more memory of a worker; smaller: more calls."""
WAIT = 1.0
"""The most seconds of one wait for messages. Larger: a silent broker is noticed later."""


class Kafka(DataSource):
    """Topics of a Kafka cluster. The options are those of Spark's connector; see docs/kafka.md."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self.client = Client.of("source kafka", dict(options))  # first of all refuse a secret in the options
        self.settings = Options(TABLE, dict(options))

    @classmethod
    def name(cls) -> str:
        return "slackwater_kafka"

    def schema(self) -> str:
        return ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())

    def streamReader(self, schema: StructType) -> StreamReader:  # noqa: N802
        return KafkaReader(self.client, schema, self.settings)


@dataclass
class Messages(InputPartition):
    """A range of messages of one partition of a topic."""

    topic: str
    partition: int
    since: int
    until: int


class KafkaReader(StreamReader):
    """The reader of Kafka. Its offsets are those of Spark's connector: the next message of each partition, by topic."""

    def __init__(self, client: Client, schema: StructType, options: Options) -> None:
        self.client = client
        self.schema = arrow_schema(schema)
        self.topics = [each.strip() for each in options["subscribe"].split(",") if each.strip()]
        self.starting = _starting(options)
        self.most = options["maxOffsetsPerTrigger"]
        self.strict = options["failOnDataLoss"]
        self.patience = options["kafkaConsumer.pollTimeoutMs"] / 1_000
        self.last: Offsets | None = None
        self._asked: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_asked": None}

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        low, high = self._ends()
        return to_document(start_at(self.starting, low, high))

    def next_offset(self, start: dict[str, Any]) -> dict[str, Any]:
        since = from_document(start)
        end = self._ends()[1] if self.last is None else self.last
        # A partition that is missing for now (its broker restarts) keeps its offset.
        return to_document({**since, **cap(since, end, self.most)})

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self.last = self._ends()[1]

    def plan(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        since, until = from_document(start), from_document(end)
        moved = [part for part, offset in until.items() if offset > since.get(part, 0)]
        low = self._ends()[0] if moved else {}
        return [Messages(*part, self._first(part, since.get(part, 0), low), until[part]) for part in moved]

    def _first(self, part: tuple[str, int], since: int, low: Offsets) -> int:
        """Return the first message to read. If Kafka has deleted messages, raise an error or skip them."""
        if low.get(part, 0) <= since:
            return since
        if self.strict:
            raise _lost(part, since, low[part])
        return low[part]

    def _ends(self) -> tuple[Offsets, Offsets]:
        """Return the first and the next offset of every partition, from the brokers."""
        from confluent_kafka import KafkaException, TopicPartition  # noqa: PLC0415 (an extra)

        self._asked = self._asked or self.client.consumer()
        low, high = {}, {}
        try:
            for topic in self.topics:
                # A topic that does not exist yet has no partitions; later ones are read from their beginning.
                for partition in self._asked.list_topics(topic, timeout=self.patience).topics[topic].partitions:
                    ends = self._asked.get_watermark_offsets(TopicPartition(topic, partition), timeout=self.patience)
                    low[topic, partition], high[topic, partition] = ends
        except KafkaException as cause:
            raise _silent(self.patience, cause.args[0].str()) from cause
        return low, high

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        from confluent_kafka import TopicPartition  # noqa: PLC0415

        assert isinstance(partition, Messages)  # noqa: S101
        consumer = self.client.consumer()
        try:
            consumer.assign([TopicPartition(partition.topic, partition.partition, partition.since)])
            for found in self._pages(consumer, partition):
                yield pa.RecordBatch.from_arrays(
                    [_column(field.name, found).cast(field.type) for field in self.schema], schema=self.schema
                )
        finally:
            consumer.close()

    def _pages(self, consumer: Any, wanted: Messages) -> Iterator[list[Any]]:
        """Yield the messages in pages. Compaction and transactions leave gaps in offsets."""
        at, heard, over = wanted.since, monotonic(), False
        while at < wanted.until and not over:
            found = []
            for message in consumer.consume(min(PAGE, wanted.until - at), timeout=min(WAIT, self.patience)):
                heard = monotonic()
                if message.error() is not None:
                    over = over or self._is_end(message, wanted)
                elif message.offset() >= wanted.until:
                    over = True
                else:
                    found.append(message)
                    at = message.offset() + 1
            if found:
                yield found
            if monotonic() - heard > self.patience:
                raise _silent(self.patience, f"{wanted.topic}-{wanted.partition} at {at}")

    def _is_end(self, message: Any, wanted: Messages) -> bool:
        """Return whether an error is the end of the partition. The client retries after most other errors."""
        from confluent_kafka import KafkaError  # noqa: PLC0415

        error = message.error()
        if error.code() == KafkaError._PARTITION_EOF:
            if message.offset() < wanted.until and self.strict:
                raise _lost((wanted.topic, wanted.partition), wanted.until, message.offset())
            return True
        if error.code() == KafkaError.OFFSET_OUT_OF_RANGE or error.fatal():
            raise _silent(self.patience, error.str())
        return False


def _column(name: str, messages: Sequence[Any]) -> pa.Array:
    match name:
        case "key":
            return pa.array([each.key() for each in messages], pa.binary())
        case "value":
            return pa.array([each.value() for each in messages], pa.binary())
        case "topic":
            return pa.array([each.topic() for each in messages], pa.string())
        case "partition":
            return pa.array([each.partition() for each in messages], pa.int32())
        case "offset":
            return pa.array([each.offset() for each in messages], pa.int64())
        case "timestamp":
            return pa.array([each.timestamp()[1] for each in messages], pa.timestamp("ms", "UTC"))
    found = [[{"key": key, "value": value} for key, value in each.headers() or ()] or None for each in messages]
    return pa.array(found, pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())])))


def _starting(options: Options) -> str | Offsets:
    text = options["startingOffsets"]
    try:
        return parse_starting(text)
    except (ValueError, TypeError) as cause:
        raise options.wrong("startingOffsets", text, 'earliest, latest, or JSON {"topic": {"0": 23}}') from cause


def _lost(part: tuple[str, int], wanted: int, found: int) -> RunError:
    return RunError(
        "SW-541",
        f"messages of {part[0]}-{part[1]} are lost: {wanted} is wanted, and the topic has {found}",
        expected="a topic that keeps messages until they are read",
        hint="bring them back, keep them for longer, or go on without them: failOnDataLoss 'false'",
    )


def _silent(patience: float, what: str) -> RunError:
    return RunError(
        "SW-540",
        f"Kafka did not answer within {patience:g} seconds: {what}",
        expected="a broker that answers; nothing is lost: the batch is repeated on resuming",
        hint="start the broker or correct kafka.bootstrap.servers; kafkaConsumer.pollTimeoutMs says how long to wait",
    )
