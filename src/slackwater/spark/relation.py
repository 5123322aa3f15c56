"""A DataFrame that stands for an operator's rows, and how the names of a plan find their columns in it."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from slackwater.algebra.expressions import Tree, parsed, renamed
from slackwater.algebra.lengths import TICK
from slackwater.algebra.schema import Expr, Field, Schema
from slackwater.errors import QueryError

WINDOW = "__window"
"""The extent that a row belongs to, as Spark's struct of start and end."""
END = f"{WINDOW}.`end`"


@dataclass(frozen=True, slots=True)
class Relation:
    """Rows of a plan's operator: a column of `df` for each of `schema`, named by `column_name`.

    `order` names the columns by which rows are in sequence (event time, arrival), where there still are such.
    `extent` is the length in ticks of the extents that rows belong to, None where they belong to none yet;
    `complete` rows come once their extent is closed.
    """

    df: DataFrame
    schema: Schema
    order: tuple[str, ...] = ()
    extent: int | None = None
    complete: bool = False

    def column(self, expr: Expr) -> Column:
        """An expression of the plan over this relation."""
        return F.expr(renamed(expr, self._spelled).sql)

    def columns(self) -> list[Column]:
        return [F.col(quoted(column_name(field))) for field in self.schema]

    def _spelled(self, reference: str) -> str | Tree:
        if self.schema.matching(reference):
            return column_name(self.schema.find(reference))
        match reference.lower(), self.extent:
            case "window_end", int():
                return parsed(END)
            case "window_start", int() as extent:
                return parsed(earlier(extent))
            case "row_time", int():
                return parsed(earlier(TICK))
        raise QueryError(
            "SW-302",
            f"'{reference}' has no value here",
            expected="a column, or window_start, window_end or row_time over a window with SLIDE",
            hint="remove it, or add RANGE and SLIDE to the stream",
        )


def earlier(ticks: int) -> str:
    """The time so many ticks before an extent ends, as Spark writes it."""
    return f"{END} - INTERVAL '{ticks}' MICROSECOND"


def column_name(field: Field) -> str:
    """The name of a plan's column in a DataFrame: unique even where two inputs have a column of the same name.

    >>> column_name(Field("speed", "double", "Traffic")), column_name(Field("top", "double"))
    ('Traffic__speed', 'top')
    """
    return f"{field.qualifier}__{field.name}" if field.qualifier else field.name


def quoted(name: str) -> str:
    """A name as Spark reads it, whatever it holds.

    >>> quoted("a.b")
    '`a.b`'
    """
    return "`" + name.replace("`", "``") + "`"
