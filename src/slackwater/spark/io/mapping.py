"""Options of CREATE STREAM for columns with other names in the source, and for times that are numbers or texts there.

- `column.NAME 'other'`: the source calls the column NAME `other`.
- `unit.NAME 'ms'`: the timestamp NAME is a number of seconds, milliseconds or microseconds since 1970 in the source.
- `pattern.NAME 'dd/MM/yyyy HH:mm:ss'`: the timestamp NAME is a text of this form in the source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from slackwater.algebra.catalog import StreamDef
from slackwater.algebra.schema import Field
from slackwater.errors import InputError, nearest
from slackwater.spark.options import Option, OptionKind, OptionTable
from slackwater.spark.relation import quote

UNITS = {"s": 1_000_000, "ms": 1_000, "us": 1}
WORDS = ("column", "unit", "pattern")
TABLE = OptionTable(
    "any stream",
    (
        Option("column.NAME", OptionKind.TEXT, None, "The name that the source has for the column NAME."),
        Option(
            "unit.NAME",
            OptionKind.CHOICE,
            None,
            "The unit of a timestamp that is a number in the source.",
            tuple(UNITS),
        ),
        Option("pattern.NAME", OptionKind.TEXT, None, "How the source writes a timestamp that is a text there."),
    ),
)
"""The table of these options, for documentation. `map_columns` checks them: their names contain column names."""


@dataclass(frozen=True, slots=True)
class MappedColumn:
    """A declared column of a stream, and how the source stores it."""

    field: Field
    source: str
    unit: str | None = None
    pattern: str | None = None

    @property
    def read(self) -> Field:
        """Return the column that is read from the source."""
        return Field(self.source, "bigint" if self.unit else "string" if self.pattern else self.field.type)

    @property
    def column(self) -> Column:
        """Return the declared column, computed from the source's. A text that does not match the pattern is NULL."""
        found = F.col(quote(self.source))
        if self.unit:
            found = F.timestamp_micros(found * F.lit(UNITS[self.unit]))
        elif self.pattern:
            found = F.try_to_timestamp(found, F.lit(self.pattern))
        return (found if self.field.type == "timestamp" else found.cast(self.field.type)).alias(self.field.name)


def map_columns(stream: StreamDef) -> tuple[list[MappedColumn], dict[str, str]]:
    """Return the columns of a stream as its options map them, and the remaining options, which are for the format."""
    given: dict[str, dict[str, str]] = {word: {} for word in WORDS}
    left = {}
    for name, value in stream.options.items():
        word, dot, column = name.partition(".")
        if dot and word.lower() in WORDS:
            given[word.lower()][_declared(stream, name, column).name] = value
        else:
            left[name] = value
    _check(stream, given)
    return [_map_column(field, given) for field in stream.fields], left


def _map_column(field: Field, given: Mapping[str, Mapping[str, str]]) -> MappedColumn:
    source = given["column"].get(field.name, field.name)
    return MappedColumn(field, source, given["unit"].get(field.name), given["pattern"].get(field.name))


def _declared(stream: StreamDef, option: str, column: str) -> Field:
    for field in stream.fields:
        if field.name.lower() == column.lower():
            return field
    raise InputError(
        "SW-437",
        f"the option {option} of the stream '{stream.name}' is about a column that is not declared",
        expected="the name of a declared column after the dot",
        hint=nearest(column, [field.name for field in stream.fields]),
    )


def _check(stream: StreamDef, given: Mapping[str, Mapping[str, str]]) -> None:
    kinds = {field.name: field.type for field in stream.fields}
    for word in ("unit", "pattern"):
        for name, value in given[word].items():
            if not kinds[name].startswith("timestamp") or (word == "unit" and value not in UNITS):
                raise InputError(
                    "SW-438",
                    f"{word}.{name} '{value}' of the stream '{stream.name}' makes no time of a {kinds[name]}",
                    expected="a column of type timestamp" + (f" and one of {', '.join(UNITS)}" * (word == "unit")),
                    hint=f"declare {name} as TIMESTAMP and say how the source writes it",
                )
