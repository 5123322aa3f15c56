"""Clients of `confluent-kafka`, made from the options that begin with `kafka.`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any
from uuid import uuid4

from slackwater.errors import InputError
from slackwater.spark.options import Option, OptionKind

PREFIX = "kafka."
FROM_ENVIRONMENT = "_env"
SECRET = re.compile(r"password|secret|token|jaas|key\.pem|credential", re.IGNORECASE)
SERVERS = "bootstrap.servers"
BROKERS = Option(f"{PREFIX}{SERVERS}", OptionKind.TEXT, None, "The brokers to ask first, as host:port.", required=True)


@dataclass(frozen=True, slots=True)
class Client:
    """The settings of librdkafka by name. A setting `NAME_env` names the environment variable with the value of NAME.

    Secrets are read from the environment when a connection is made, so that no plan and no checkpoint contains them.
    """

    owner: str
    settings: Mapping[str, str]

    @classmethod
    def of(cls, owner: str, options: Mapping[str, str]) -> Client:
        """Return the client that options describe. Raise an error if its settings are wrong."""
        if find_spec("confluent_kafka") is None:
            raise InputError(
                "SW-494",
                f"{owner} needs a client of Kafka",
                expected="the Python package confluent-kafka, or Spark's own connector",
                hint="in the clone: pip install '.[kafka]', or --conf spark.jars.packages="
                "org.apache.spark:spark-sql-kafka-0-10_2.13:VERSION",
            )
        given = {name[len(PREFIX) :]: value for name, value in options.items() if name.lower().startswith(PREFIX)}
        for name in given:
            _check_secret(owner, name)
        made = cls(owner, given)
        made.check()
        return made

    def check(self) -> None:
        """Raise an error if librdkafka does not accept the settings. Opens no connection."""
        from confluent_kafka import Consumer, KafkaException  # noqa: PLC0415 (an extra)

        try:
            Consumer(self._all({"group.id": "check", "log_level": "0", SERVERS: ""})).close()
        except (KafkaException, TypeError, ValueError) as cause:
            raise InputError(
                "SW-493",
                f"{self.owner}: the client refuses its settings: {_said(cause)}",
                expected=f"settings of librdkafka, each with {PREFIX} before its name",
                hint="correct the setting; what Java clients call otherwise is in librdkafka's CONFIGURATION.md",
            ) from cause

    def consumer(self) -> Any:
        """Return a consumer in a group of its own that commits nothing and reports the end of a partition."""
        from confluent_kafka import Consumer  # noqa: PLC0415

        own = {"group.id": f"slackwater-{uuid4().hex}", "enable.auto.commit": "false", "enable.partition.eof": "true"}
        return Consumer(self._all(own))

    def producer(self, transaction: str | None = None) -> Any:
        """Return an idempotent producer that chooses partitions as Java clients do; with a transaction if named."""
        from confluent_kafka import Producer  # noqa: PLC0415

        own = {"enable.idempotence": "true"} | ({"transactional.id": transaction} if transaction else {})
        return Producer({"partitioner": "murmur2_random"} | self._all(own))

    def _all(self, own: Mapping[str, str]) -> dict[str, str]:
        found = {}
        for name, value in self.settings.items():
            if name.endswith(FROM_ENVIRONMENT):
                found[name.removesuffix(FROM_ENVIRONMENT)] = _variable(self.owner, value)
            else:
                found[name] = value
        return {"log_level": "3", **found, **own}


def _check_secret(owner: str, name: str) -> None:
    if SECRET.search(name) and not name.endswith((FROM_ENVIRONMENT, ".location")):
        raise InputError(
            "SW-491",
            f"{owner} has the secret '{PREFIX}{name}' among its options, which are shown in plans",
            expected=f"'{PREFIX}{name}{FROM_ENVIRONMENT}', the name of an environment variable that holds it",
            hint=f"write {PREFIX}{name}{FROM_ENVIRONMENT} 'NAME', and set NAME where the query and its workers run",
        )


def _variable(owner: str, name: str) -> str:
    found = os.environ.get(name)
    if found is None:
        raise InputError(
            "SW-492",
            f"{owner} takes a setting from the environment variable '{name}', which is not set",
            hint="set it for the driver, and with --conf spark.executorEnv.NAME=... for workers on other machines",
        )
    return found


def _said(cause: Exception) -> str:
    error = cause.args[0] if cause.args else cause
    return str(error.str() if hasattr(error, "str") else error)
