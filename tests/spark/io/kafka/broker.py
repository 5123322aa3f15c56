"""A broker for tests, in a process of its own: the one that comes with librdkafka. It speaks Kafka's protocol.

`python -m tests.spark.io.kafka.broker` prints its address and serves until it is ended. A topic has four partitions.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

QUIET = {"log_level": "0"}
PARTITIONS = range(4)


def serve() -> None:
    """Print the broker's address, and serve until killed."""
    host = Producer({"test.mock.num.brokers": "1", "bootstrap.servers": "none", **QUIET})
    found = host.list_topics(timeout=30).brokers.values()
    print(",".join(f"{each.host}:{each.port}" for each in found), flush=True)
    while True:
        host.poll(1)


@dataclass(frozen=True)
class Broker:
    """A running broker."""

    address: str
    process: subprocess.Popen[str]

    def send(self, topic: str, values: Sequence[object], keys: Sequence[str] | None = None, start: int = 0) -> None:
        """Send messages to the partitions in turn, a millisecond apart. Values that are not text are sent as JSON."""
        producer = Producer({"bootstrap.servers": self.address, **QUIET})
        for place, value in enumerate(values, start):
            text = value if isinstance(value, str | bytes) else json.dumps(value)
            key = keys[place - start] if keys else None
            at = 1_700_000_000_000 + place
            producer.produce(topic, text, key, place % 4, timestamp=at, headers=[("place", str(place))])
        assert producer.flush(30) == 0

    def read(self, topic: str) -> list[Any]:
        """Return every message of a topic that is visible, partition by partition."""
        consumer = Consumer(
            {"bootstrap.servers": self.address, "group.id": "test", "enable.partition.eof": "true", **QUIET}
        )
        found = []
        for partition in PARTITIONS:
            consumer.assign([TopicPartition(topic, partition, 0)])
            while (message := consumer.poll(30)) is not None:
                if message.error() is not None:
                    assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
                    break
                found.append(message)
        consumer.close()
        return found

    def pause(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)


@contextmanager
def running_broker() -> Iterator[Broker]:
    """Yield a broker, and stop it at the end of the block."""
    command = [sys.executable, "-m", "tests.spark.io.kafka.broker"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            yield Broker(process.stdout.readline().strip(), process)
        finally:
            process.send_signal(signal.SIGCONT)
            process.kill()


if __name__ == "__main__":
    serve()
