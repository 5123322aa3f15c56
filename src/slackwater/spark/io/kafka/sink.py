"""A sink that writes rows, or the changes of a changelog, as messages of Kafka."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from slackwater.errors import InputError, RunError, nearest
from slackwater.spark.batches import DeliveredBatch
from slackwater.spark.io.kafka.client import BROKERS, PREFIX, Client
from slackwater.spark.io.kafka.stream import has_connector
from slackwater.spark.options import CHANGELOG, SINK, Option, OptionKind, Options, OptionTable
from slackwater.spark.relation import quote
from slackwater.spark.shim.workers import require_workers

TABLE = OptionTable(
    "kafka",
    (
        BROKERS,
        Option("topic", OptionKind.TEXT, None, "The topic to write to; without it, the name of the sink."),
        Option(
            "key",
            OptionKind.TEXT,
            None,
            "The columns of a message's key, with commas; without it, the query's own key.",
        ),
        Option("transaction", OptionKind.FLAG, "false", "Whether the messages of a batch become visible together."),
        Option("timeout", OptionKind.WHOLE, "60", "How many seconds to wait for a broker's answer.", least=1),
    ),
    SINK,
    prefixes=(PREFIX, CHANGELOG),
)
IMAGES = ("after", "before")
"""The columns of the profile `debezium` that contain the row."""


@dataclass(frozen=True, slots=True)
class KafkaSink:
    """One message for each row: its value is the row as JSON, its key the key columns as JSON.

    A repeated batch is sent again (at least once). The headers of every message name its run and its batch. With
    `transaction 'true'` the messages of a batch become visible together or not at all.
    """

    name: str
    options: Mapping[str, str]
    key: tuple[str, ...] | None

    def open(self, df: DataFrame) -> None:
        """Raise an error if the options or the key are wrong. Sends nothing."""
        by_spark = uses_connector(df)
        if not by_spark:
            require_workers(df.sparkSession)
            self._client()
        settings = self._settings()
        if by_spark and settings["transaction"]:
            hint = "in the clone: pip install '.[kafka]'; Spark's connector has no transactions"
            raise settings.wrong("transaction", "true", "false", hint)
        self._keys(df)

    def write(self, df: DataFrame, batch: DeliveredBatch) -> None:
        messages = df.select(self._key_column(df).alias("key"), _json(df.columns).alias("value"))
        if uses_connector(df):
            own = {name: value for name, value in self.options.items() if name.lower() not in ("key", "topic")}
            messages.write.format("kafka").options(**own, topic=self.options.get("topic", self.name)).save()
            return
        client, settings = self._client(), self._settings()
        topic, patience = settings.get("topic", self.name), settings["timeout"]
        headers = [("slackwater-run", batch.run), ("slackwater-batch", str(batch.number))]
        send = partial(send_messages, client, topic, headers, patience)
        if settings["transaction"]:
            self._send_together(messages, client, send, f"slackwater-{batch.run}-{self.name}", patience)
        else:
            messages.mapInArrow(send, "sent long").collect()

    def _client(self) -> Client:
        return Client.of(f"the sink '{self.name}'", self.options)

    def _settings(self) -> Options:
        return Options(TABLE, self.options, f"the sink '{self.name}'")

    def _send_together(self, messages: DataFrame, client: Client, send: Any, identity: str, patience: float) -> None:
        """Send a batch in one transaction, from the driver. Earlier producers with the same identity are fenced off."""
        from confluent_kafka import KafkaException  # noqa: PLC0415 (an extra)

        producer = client.producer(identity)
        try:
            producer.init_transactions(patience)
            producer.begin_transaction()
            for _ in send(iter(messages.toArrow().to_batches()), producer=producer):
                """Sent."""
            producer.commit_transaction(patience)
        except KafkaException as cause:
            raise _undelivered(identity, str(cause.args[0].str())) from cause

    def _keys(self, df: DataFrame) -> Sequence[str]:
        """Return the columns of the key: those of the option `key`, or the key of the query."""
        named = next((value for name, value in self.options.items() if name.lower() == "key"), None)
        keys = [each.strip() for each in named.split(",")] if named else list(self.key or ())
        known = {name.lower(): name for name in _columns(df)}
        for each in keys:
            if each.lower() not in known and named:
                raise InputError(
                    "SW-496",
                    f"the sink '{self.name}' has the key '{each}', which is no column of its rows",
                    expected="columns of: " + ", ".join(known.values()),
                    hint=nearest(each, known.values()),
                )
        return [known[each.lower()] for each in keys if each.lower() in known]

    def _key_column(self, df: DataFrame) -> Column:
        """Return the key as JSON, NULL if there is none. A change of `debezium` has its key in `after` or `before`."""
        keys = self._keys(df)
        if not keys:
            return F.lit(None).cast("string")
        if all(name in df.columns for name in keys):
            return _json(keys)
        image = [F.coalesce(*(F.col(f"{each}.{quote(name)}") for each in IMAGES)).alias(name) for name in keys]
        return F.to_json(F.struct(*image), {"ignoreNullFields": "false"})


def uses_connector(df: DataFrame) -> bool:
    """Return whether Spark's connector writes, because confluent-kafka is not installed."""
    return find_spec("confluent_kafka") is None and has_connector(df.sparkSession)


def send_messages(
    client: Client,
    topic: str,
    headers: list[tuple[str, str]],
    patience: float,
    batches: Iterator[pa.RecordBatch],
    producer: Any = None,
) -> Iterator[pa.RecordBatch]:
    """Send keys and values, wait until the brokers have them, and yield the number of messages sent."""
    own = producer or client.producer()
    failed: list[str] = []
    sent = 0

    def told(error: Any, _: Any) -> None:
        if error is not None:
            failed.append(str(error.str()))

    for batch in batches:
        keys, values = batch.column("key").to_pylist(), batch.column("value").to_pylist()
        for key, value in zip(keys, values, strict=True):
            _produce(own, topic=topic, key=key, value=value, headers=headers, on_delivery=told)
        sent += batch.num_rows
    if left := own.flush(patience):
        failed.append(f"{left} messages were not taken within {patience} seconds")
    if failed:
        raise _undelivered(topic, failed[0])
    yield pa.RecordBatch.from_pydict({"sent": pa.array([sent], pa.int64())})


def _produce(producer: Any, **message: Any) -> None:
    """Pass a message to the client; wait while its queue is full."""
    while True:
        try:
            producer.produce(**message)
        except BufferError:
            producer.poll(0.1)
        else:
            producer.poll(0)
            return


def _columns(df: DataFrame) -> list[str]:
    if all(name in df.columns for name in IMAGES):
        return df.select(f"{IMAGES[0]}.*").columns
    return df.columns


def _json(names: Sequence[str]) -> Column:
    return F.to_json(F.struct(*(F.col(quote(name)) for name in names)), {"ignoreNullFields": "false"})


def _undelivered(where: str, why: str) -> RunError:
    return RunError(
        "SW-542",
        f"messages could not be delivered to {where}: {why}",
        expected="a broker that takes them; nothing is lost: the batch is repeated on resuming",
        hint="start the broker, correct kafka.bootstrap.servers, or allow the user to write to the topic",
    )
