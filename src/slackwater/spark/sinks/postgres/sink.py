"""`USING postgres`: the rows of a DataFrame in a table."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import AtomicType, BinaryType, DayTimeIntervalType, NullType, StructField, YearMonthIntervalType

from slackwater.algebra.schema import Field
from slackwater.spark.batches import Batch
from slackwater.spark.relation import quoted
from slackwater.spark.sinks.postgres.append import Append
from slackwater.spark.sinks.postgres.batches import Written
from slackwater.spark.sinks.postgres.server import Server
from slackwater.spark.sinks.postgres.table import Target

AS_TEXT = (NullType, DayTimeIntervalType, YearMonthIntervalType)


class Postgres:
    """Each batch is one transaction, in which the batch itself is noted."""

    def __init__(
        self, pipeline: str, name: str, options: Mapping[str, str], changelog: bool, key: tuple[str, ...] | None
    ) -> None:
        self.pipeline = pipeline
        self.name = name
        self.options = options
        self.changelog = changelog
        self.key = key
        self.server = Server.of(name, options)

    def open(self, df: DataFrame) -> None:
        fields = tuple(Field(each.name, _kind(each)) for each in df.schema)
        self.writer = Append(self.server, Target.of(self.name, self.options, fields))
        self.writer.open()

    def write(self, df: DataFrame, batch: Batch) -> None:
        rows = df.select(*map(_sent, df.schema)).toArrow()
        self.writer.write(rows, Written(self.pipeline, batch.run, batch.number, batch.punctuation))


def _kind(field: StructField) -> str:
    return "string" if isinstance(field.dataType, AS_TEXT) else field.dataType.simpleString()


def _sent(field: StructField) -> Column:
    """A column as PostgreSQL reads it from text: what has parts as JSON, bytes as their digits."""
    column = F.col(quoted(field.name))
    match field.dataType:
        case BinaryType():
            column = F.concat(F.lit("\\x"), F.hex(column))
        case each if isinstance(each, AS_TEXT):
            column = column.cast("string")
        case each if not isinstance(each, AtomicType):
            column = F.to_json(column)
    return column.alias(field.name)
