"""Columns with their types (as Spark's type strings), and the lookup of a column by its name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from slackwater.errors import QueryError, nearest

UNKNOWN = "unknown"
"""The type of an expression that only Spark can type, such as a function that sqlglot does not know."""

PSEUDO_COLUMNS = {
    "window_start": "timestamp",
    "window_end": "timestamp",
    "row_time": "timestamp",
    "row_number": "bigint",
}
"""Attributes of the instant that a query may name without declaring them."""


@dataclass(frozen=True, slots=True)
class Expr:
    """A Spark SQL expression in canonical text, and its type.

    A column is written as `name` if that is unique in the input's schema, otherwise as `alias.name`.
    """

    sql: str
    type: str

    def __str__(self) -> str:
        return self.sql


@dataclass(frozen=True, slots=True)
class Field:
    """A column; `qualifier` is the alias of the stream or subquery that it comes from, if any."""

    name: str
    type: str
    qualifier: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.type}"


@dataclass(frozen=True, slots=True)
class Schema:
    """Columns in order. Names are matched without regard to case, as in Spark.

    >>> schema = Schema((Field("Id", "int", "A"), Field("Id", "int", "B"), Field("speed", "double", "B")))
    >>> schema.find("SPEED").name, schema.find("b.id").qualifier
    ('speed', 'B')
    >>> schema.reference(schema.find("A.Id")), schema.reference(schema.find("speed"))
    ('A.Id', 'speed')
    """

    fields: tuple[Field, ...]

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields)

    def matching(self, reference: str) -> list[Field]:
        """Return the columns that a reference, `name` or `alias.name`, could mean."""
        qualifier, _, name = reference.lower().rpartition(".")
        return [
            field
            for field in self.fields
            if field.name.lower() == name and (not qualifier or field.qualifier.lower() == qualifier)
        ]

    def __contains__(self, reference: str) -> bool:
        return len(self.matching(reference)) == 1

    def find(self, reference: str) -> Field:
        """Return the one column that a reference means. If there is none, the error suggests the most similar name."""
        match self.matching(reference):
            case [field]:
                return field
            case []:
                raise QueryError(
                    "SW-201",
                    f"there is no column '{reference}' here",
                    expected="a column of: " + ", ".join(self.names[:12]),
                    hint=nearest(reference.rpartition(".")[2], self.names),
                )
            case several:
                options = " or ".join(f"{field.qualifier}.{field.name}" for field in several)
                raise QueryError(
                    "SW-202",
                    f"column '{reference}' is ambiguous",
                    expected=options,
                    hint="write its alias before it",
                )

    def reference(self, field: Field) -> str:
        """Return how canonical text names this column: by its name if that is unique, otherwise with its alias."""
        if len(self.matching(field.name)) == 1 or not field.qualifier:
            return field.name
        return f"{field.qualifier}.{field.name}"

    def qualify(self, alias: str) -> Schema:
        """Return the same columns under the alias of a source."""
        return Schema(tuple(Field(field.name, field.type, alias) for field in self.fields))
