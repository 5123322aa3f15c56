"""The sink `USING postgres`: writes the rows of a DataFrame to a table."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    AtomicType,
    BinaryType,
    CharType,
    DayTimeIntervalType,
    NullType,
    StringType,
    StructField,
    VarcharType,
    YearMonthIntervalType,
)

from slackwater.algebra.schema import Field
from slackwater.spark.batches import DeliveredBatch
from slackwater.spark.io.rejects import NUL
from slackwater.spark.io.sinks.net import CHANGE, key_among
from slackwater.spark.io.sinks.postgres.append import Append
from slackwater.spark.io.sinks.postgres.batches import WrittenBatch
from slackwater.spark.io.sinks.postgres.keyed import Keyed
from slackwater.spark.io.sinks.postgres.server import TABLE, Server
from slackwater.spark.io.sinks.postgres.table import Target
from slackwater.spark.options import Options
from slackwater.spark.relation import quote

AS_TEXT = (NullType, DayTimeIntervalType, YearMonthIntervalType)
ESCAPED_NUL = r"(?<!\\)((?:\\\\)*)\\u0000"
"""Matches NUL in JSON. After a further odd number of backslashes the text means other characters."""


class Postgres:
    """Writes each batch in one transaction, which also records the batch.

    A changelog keeps a table of its live rows up to date; with `mode 'append'` its rows are appended as they are.
    """

    def __init__(
        self, pipeline: str, name: str, options: Mapping[str, str], changelog: bool, key: tuple[str, ...] | None
    ) -> None:
        self.pipeline = pipeline
        self.name = name
        self.options = {option.lower(): value for option, value in options.items()}
        self.server = Server.of(name, options)
        self.key = key
        settings = Options(TABLE, options, f"the sink '{name}'")
        self.keyed = settings.get("mode", "table" if changelog else "append") == "table"
        self.clear = settings["restart"] == "clear"
        if self.keyed and not changelog:
            raise settings.wrong("mode", "table", "append", "a table of live rows needs EMIT CHANGES")

    def open(self, df: DataFrame) -> None:
        fields = tuple(Field(each.name, _kind(each)) for each in df.schema)
        if self.keyed:
            key = key_among(self.name, self.key, df.columns)
            kept = tuple(field for field in fields if field.name != CHANGE)
            self.writer: Append | Keyed = Keyed(self.server, self._target(kept, key), self.clear)
        else:
            self.writer = Append(self.server, self._target(fields))
        self.writer.open()

    def write(self, df: DataFrame, batch: DeliveredBatch) -> None:
        rows = df.select(*map(_sent, df.schema)).toArrow()
        self.writer.write(rows, WrittenBatch(self.pipeline, batch.run, batch.number, batch.punctuation))

    def _target(self, fields: tuple[Field, ...], key: tuple[str, ...] | None = None) -> Target:
        return Target.of(self.name, self.options, fields, key)


def _kind(field: StructField) -> str:
    return "string" if isinstance(field.dataType, AS_TEXT) else field.dataType.simpleString()


def _sent(field: StructField) -> Column:
    """Return a column as PostgreSQL reads it from text: nested values as JSON, bytes as hexadecimal digits.

    PostgreSQL's texts cannot contain NUL, which is replaced as in the text of a rejected row.
    """
    column = F.col(quote(field.name))
    match field.dataType:
        case BinaryType():
            column = F.concat(F.lit("\\x"), F.hex(column))
        case StringType() | VarcharType() | CharType():
            column = F.replace(column, F.lit("\0"), F.lit(NUL))
        case each if isinstance(each, AS_TEXT):
            column = column.cast("string")
        case each if not isinstance(each, AtomicType):
            column = F.regexp_replace(F.to_json(column), ESCAPED_NUL, f"$1{NUL}")
    return column.alias(field.name)
