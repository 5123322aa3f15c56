"""The declarations of a script (streams, views, sinks) and the pipelines that run between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeVar

from slackwater.algebra.nodes import Plan, Scan
from slackwater.algebra.schema import Expr, Field, Schema
from slackwater.errors import QueryError, nearest

LATE = "late"
"""The format of the streams `name$late`. Their column `late_by` counts ticks."""
REJECTED = "rejected"
"""The format of the streams `name$rejected`."""
REFUSED = "refused"
"""The format of the streams `name$refused`."""
SIDES = (LATE, REJECTED, REFUSED)
"""The side outputs of a pipeline, readable as `name$side`."""
KAFKA_COLUMNS = {
    "kafka_timestamp": "timestamp",
    "kafka_partition": "int",
    "kafka_offset": "bigint",
    "kafka_topic": "string",
    "kafka_key": "string",
    "kafka_headers": "array<struct<key: string, value: string>>",
}
"""Columns of a stream `USING kafka` that Kafka supplies outside the message value."""
TIMESTAMPS = ("timestamp", "timestamp_ntz", "timestamp_ltz")
"""The types that an event time or an arrival time may have."""


@dataclass(frozen=True, slots=True)
class StreamDef:
    """CREATE STREAM: columns, where the rows come from, and which columns are clocks, sender, change type and key."""

    name: str
    fields: tuple[Field, ...]
    format: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    event_time: str | None = None
    arrival: str | None = None
    source: str | None = None
    change_type: str | None = None
    key: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ViewDef:
    """CREATE VIEW: a registered query including its `Emit`; `key` holds expressions over the view's columns."""

    name: str
    key: tuple[Expr, ...]
    query: Plan


@dataclass(frozen=True, slots=True)
class SinkDef:
    """CREATE SINK: where a pipeline's rows go."""

    name: str
    format: str
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """INSERT INTO: a running query, named after its sink. A plain query has no sink and shows its rows."""

    name: str
    sink: SinkDef | None
    plan: Plan


class Aspect(StrEnum):
    """The part of a query that EXPLAIN shows: the plan as written, the rewritten plan, or how Spark runs it."""

    PLAN = "plan"
    REWRITES = "rewrites"
    PHYSICAL = "physical"


@dataclass(frozen=True, slots=True)
class Explain:
    """EXPLAIN: a query to show without running it."""

    what: Aspect
    plan: Plan


_D = TypeVar("_D", bound=StreamDef | ViewDef | SinkDef)


@dataclass(frozen=True, slots=True)
class Catalog:
    """The declarations that a query can name. Names are matched without regard to case.

    >>> catalog = Catalog((StreamDef("Traffic", (Field("ts", "timestamp"),), event_time="ts"),))
    >>> catalog.source("TRAFFIC").name, catalog.fill(Scan("traffic", "T", (), "")).event_time
    ('Traffic', 'ts')
    """

    streams: tuple[StreamDef, ...] = ()
    views: tuple[ViewDef, ...] = ()
    sinks: tuple[SinkDef, ...] = ()

    def source(self, name: str) -> StreamDef | ViewDef:
        """Return the stream or view of this name."""
        stream, view = _find(self.streams, name) or self._side(name), _find(self.views, name)
        if stream or view:
            return stream or view  # type: ignore[return-value]
        known = [*(each.name for each in self.streams), *(each.name for each in self.views)]
        raise QueryError(
            "SW-204",
            f"there is no stream or view '{name}'",
            expected="a stream or view that was declared before",
            hint=nearest(name, known) if known else "declare it with CREATE STREAM first",
        )

    def sink(self, name: str) -> SinkDef:
        if found := _find(self.sinks, name):
            return found
        known = [each.name for each in self.sinks]
        raise QueryError(
            "SW-208",
            f"there is no sink '{name}'",
            expected="a sink that was declared before",
            hint=nearest(name, known) if known else "declare it with CREATE SINK first",
        )

    def fill(self, scan: Scan) -> Scan:
        """Return the scan with the columns and clocks of its stream. An event time that the scan names is kept."""
        stream = self.source(scan.stream)
        if isinstance(stream, ViewDef):
            raise QueryError("SW-204", f"'{stream.name}' is a view", expected="a stream", hint="read it as a view")
        schema = Schema(stream.fields)
        event_time = scan.event_time or stream.event_time or ""
        if not event_time:
            raise QueryError(
                "SW-209",
                f"the stream '{stream.name}' has no event time",
                expected="TIMESTAMP BY column in CREATE STREAM, WATTR column in the bracket, or sw.stream(df, column)",
                hint=f"name the timestamp: {_choices(schema)}",
            )
        return Scan(
            stream.name,
            scan.alias or stream.name,
            stream.fields,
            check_clock(event_time, schema, "an event time"),
            stream.arrival,
            stream.source,
            stream.change_type,
            stream.key,
        )

    def _side(self, name: str) -> StreamDef | None:
        """Return the side output that `name$late` names.

        `name` is a pipeline, or a stream that exactly one pipeline reads.
        """
        of, _, side = name.lower().rpartition("$")
        sides = [each for each in self.streams if each.format == side and side in SIDES]
        mine, others = ([each for each in sides if of == each.options[key].lower()] for key in ("pipeline", "stream"))
        found = mine or others
        if len(found) > 1:
            told = found[0].options
            raise QueryError(
                "SW-228",
                f"the pipeline '{told['pipeline']}' reads {len(mine)} streams, and each has its own {side} rows"
                if mine
                else f"{len(found)} pipelines read '{told['stream']}', and each has its own {side} rows",
                expected=" or ".join(each.name for each in found),
                hint="name the stream whose rows you mean" if mine else "name the pipeline whose rows you mean",
            )
        return found[0] if found else None

    def with_stream(self, stream: StreamDef) -> Catalog:
        return replace(self, streams=_added(self.streams, stream, (*self.streams, *self.views)))

    def with_view(self, view: ViewDef) -> Catalog:
        return replace(self, views=_added(self.views, view, (*self.streams, *self.views)))

    def with_sink(self, sink: SinkDef) -> Catalog:
        return replace(self, sinks=_added(self.sinks, sink, self.sinks))


@dataclass(frozen=True, slots=True)
class Script:
    """All statements of a file, in the order of the file."""

    streams: tuple[StreamDef, ...] = ()
    views: tuple[ViewDef, ...] = ()
    sinks: tuple[SinkDef, ...] = ()
    pipelines: tuple[Pipeline, ...] = ()
    explains: tuple[Explain, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings of the Spark session."""

    @property
    def catalog(self) -> Catalog:
        return Catalog(self.streams, self.views, self.sinks)


def check_name(name: str) -> str:
    """Return the name if a column or alias may have it. It must not hold a dot, because references are `alias.name`."""
    if name and not any(each in name for each in ".`\n\r\0"):
        return name
    raise QueryError(
        "SW-219",
        f"'{name}' cannot be a name" if name else "the name is empty",
        expected="a name without dots, backticks and line breaks",
        hint="choose another name",
    )


def check_declared(name: str) -> str:
    """Return the name if a stream, view, sink or pipeline may have it. It names files, so it must not be a path."""
    if not any(each in name for each in "/\\"):
        return check_name(name)
    raise QueryError(
        "SW-219", f"'{name}' cannot be a name", expected="a name without dots and slashes", hint="choose another name"
    )


def check_setting(name: str) -> str:
    """Return the name if SET may set it: a setting of the Spark session. Others have no effect."""
    if name.startswith("spark."):
        return name
    raise QueryError(
        "SW-229",
        f"there is no setting '{name}'",
        expected="a setting of Spark, SET spark.NAME = value",
        hint=f"write spark.{name.partition('.')[2]}"
        if name.lower().startswith("spark.")
        else "write spark. before it; what is of a stream or a sink alone stands in its OPTIONS (...)",
    )


def check_clock(reference: str, schema: Schema, what: str) -> str:
    """Return the name of the referenced column if it is a timestamp, else raise."""
    column = schema.find(reference)
    if column.type not in TIMESTAMPS:
        raise QueryError(
            "SW-210",
            f"'{column.name}' is of type {column.type} and cannot be {what}",
            expected="a column of type timestamp",
            hint=f"use {_choices(schema)}",
        )
    return column.name


def _choices(schema: Schema) -> str:
    clocks = [each.name for each in schema if each.type in TIMESTAMPS]
    return " or ".join(clocks) if clocks else "a timestamp: the stream has no such column, add one"


def _find(definitions: Iterable[_D], name: str) -> _D | None:
    return next((each for each in definitions if each.name.lower() == name.lower()), None)


def _added(definitions: tuple[_D, ...], new: _D, taken: Iterable[StreamDef | ViewDef | SinkDef]) -> tuple[_D, ...]:
    check_declared(new.name)
    if any(each.name.lower() == new.name.lower() for each in taken):
        raise QueryError(
            "SW-207",
            f"the name '{new.name}' is taken",
            expected="a name that no earlier statement declares",
            hint="choose another name, or remove one of the two statements",
        )
    return (*definitions, new)
