"""The entry of a fused plan: a stream, what Spark selects and computes of it, and its punctuations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import DayTimeIntervalType

from slackwater.algebra.nodes import Disorder, Item, Scan
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import Expr
from slackwater.errors import InputError, nearest
from slackwater.spark.relation import Relation, column_name, quoted
from slackwater.spark.watermark.control import Reads

Inputs = Mapping[str, DataFrame]


@dataclass(frozen=True, slots=True)
class Entry:
    """A controlled stream, the conditions that its rows must meet, and the columns that the engine reads of them."""

    disorder: Disorder
    conditions: tuple[Expr, ...] = ()
    columns: tuple[Item, ...] = ()

    @property
    def scan(self) -> Scan:
        assert isinstance(self.disorder.child, Scan)  # noqa: S101
        return self.disorder.child

    def rows(self, streams: Inputs, reads: Reads) -> DataFrame:
        """The engine's columns, computed by Spark. The controller sees every row, whatever the conditions are."""
        scan, schema = self.scan, schema_of(self.scan)
        columns = {"arrival": scan.arrival, "source": scan.source}
        df = stream_of(scan, streams)
        df = reads.rows(df, scan.event_time, self.disorder.policy, name=scan.stream, **columns)
        df = df.select(*(F.col(quoted(field.name)).alias(column_name(field)) for field in schema))
        relation = Relation(df, schema)
        for condition in self.conditions:
            df = df.where(relation.column(condition))
        return df.select(*(relation.column(item.expr).alias(item.name) for item in self.columns))

    def clock(self, streams: Inputs, reads: Reads) -> DataFrame | None:
        """Return the punctuations of the stream that come as rows, if they do; `rows` has been asked before."""
        return reads.clock(stream_of(self.scan, streams), self.scan.stream)


def types_in(rows: DataFrame) -> dict[str, str]:
    """The types of columns by name, as Spark's DDL spells them."""
    kinds = {field.name: field.dataType for field in rows.schema}
    return {
        name: "interval" if isinstance(kind, DayTimeIntervalType) else kind.simpleString()
        for name, kind in kinds.items()
    }


def stream_of(scan: Scan, streams: Inputs) -> DataFrame:
    """The DataFrame of a scan's stream, whatever the case of its name."""
    names = {name.lower(): name for name in streams}
    if scan.stream.lower() not in names:
        raise InputError(
            "SW-432", f"no DataFrame is given for the stream '{scan.stream}'", hint=nearest(scan.stream, streams)
        )
    return streams[names[scan.stream.lower()]]
