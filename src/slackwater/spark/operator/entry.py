"""The entry of a fused plan: a stream, the filters and columns that Spark computes, and its punctuations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import DayTimeIntervalType

from slackwater.algebra.nodes import Disorder, Item, Scan
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import Expr
from slackwater.spark.relation import Relation, column_name, dataframe_of, quote
from slackwater.spark.watermark.control import Reads
from slackwater.spark.watermark.rows_host import CLOCK

Inputs = Mapping[str, DataFrame]


@dataclass(frozen=True, slots=True)
class Entry:
    """A controlled stream, the conditions that its rows must meet, and the columns that the engine reads."""

    disorder: Disorder
    conditions: tuple[Expr, ...] = ()
    columns: tuple[Item, ...] = ()

    @property
    def scan(self) -> Scan:
        assert isinstance(self.disorder.child, Scan)  # noqa: S101
        return self.disorder.child

    def rows(self, streams: Inputs, reads: Reads | None) -> DataFrame:
        """Return the columns of the engine, computed by Spark. The controller sees every row before the conditions.

        Without `reads` the stream is read once more, and the controller does not see it.
        """
        scan, schema = self.scan, schema_of(self.scan)
        columns = {"arrival": scan.arrival, "source": scan.source}
        df = dataframe_of(scan, streams)
        if reads is not None:
            df = reads.rows(df, scan.event_time, self.disorder.policy, name=scan.stream, **columns)
        elif CLOCK in df.columns:
            df = df.where(F.col(CLOCK).isNull())
        df = df.select(*(F.col(quote(field.name)).alias(column_name(field)) for field in schema))
        relation = Relation(df, schema)
        for condition in self.conditions:
            df = df.where(relation.column(condition))
        return df.select(*(relation.column(item.expr).alias(item.name) for item in self.columns))

    def clock(self, streams: Inputs, reads: Reads) -> DataFrame | None:
        """Return the punctuations of the stream if they come as rows, else None. Call `rows` first."""
        return reads.clock(dataframe_of(self.scan, streams), self.scan.stream)


def types_in(rows: DataFrame) -> dict[str, str]:
    """Return the types of columns by name, as Spark's DDL spells them."""
    kinds = {field.name: field.dataType for field in rows.schema}
    return {
        name: "interval" if isinstance(kind, DayTimeIntervalType) else kind.simpleString()
        for name, kind in kinds.items()
    }
