"""The DataFrame with the rows of an operator, and the mapping from the names of a plan to its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from slackwater.algebra.expressions import Tree, parse_expr, replace_columns
from slackwater.algebra.lengths import TICK
from slackwater.algebra.nodes import Scan
from slackwater.algebra.schema import Expr, Field, Schema
from slackwater.errors import InputError, QueryError, nearest

BOUNDARY = "__boundary"
"""The end of the extent that a row belongs to."""
TIME = "__time"
"""The event time of a row of a stream."""
ARRIVED = "__arrived"
"""The arrival time of a row of a stream, where its stream has one."""
BATCH, PLACE = "__batch", "__place"
"""The batch in which a row of a stream came, and its place in the batch: its position in the source."""


@dataclass(frozen=True, slots=True)
class Relation:
    """The rows of an operator: `df` has a column for each field of `schema`, named by `column_name`, and internal ones.

    `extent` is the length in ticks of the extents that rows belong to; BOUNDARY has the end of the extent. It is None
    if rows belong to a stream; then TIME has their event time. `complete` rows come once their extent is closed.
    `order` names the columns that give the sequence of rows, if these still exist; `parts` those of PARTITIONED BY.
    """

    df: DataFrame
    schema: Schema
    order: tuple[str, ...] = ()
    extent: int | None = None
    complete: bool = False
    parts: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Return the names of the plan's columns in `df`."""
        return [column_name(field) for field in self.schema]

    @property
    def own(self) -> list[str]:
        """Return the internal columns that parent operators need."""
        instant = [TIME] if self.extent is None else [BOUNDARY]
        return [*dict.fromkeys([*instant, *self.order, *self.parts])]

    def column(self, expr: Expr) -> Column:
        """Return an expression of the plan as a column of `df`."""
        return F.expr(replace_columns(expr, self.spell).sql)

    def columns(self) -> list[Column]:
        return [F.col(quote(name)) for name in self.names]

    def spell(self, reference: str) -> str | Tree:
        """Return the column name or the expression in `df` that a reference of the plan stands for.

        An attribute of the instant is always computed, if need be by subtracting 0: a mere copy of a column with a
        watermark would also have the watermark, and Spark refuses to keep state over two such columns.
        """
        if self.schema.matching(reference):
            return column_name(self.schema.find(reference))
        match reference.lower(), self.extent:
            case "window_end", int():
                return parse_expr(earlier(0))
            case "window_start", int() as extent:
                return parse_expr(earlier(extent))
            case "row_time", int():
                return parse_expr(earlier(TICK))
            case "row_time", None:
                return parse_expr(f"{TIME} - INTERVAL '0' MICROSECOND")
        raise QueryError(
            "SW-302",
            f"'{reference}' has no value here",
            expected="a column, or window_start, window_end or row_time over a window with SLIDE",
            hint="remove it, or add RANGE and SLIDE to the stream",
        )


def earlier(ticks: int) -> str:
    """Return the time so many ticks before the end of an extent, as a SQL expression."""
    return f"{BOUNDARY} - INTERVAL '{ticks}' MICROSECOND"


def column_name(field: Field) -> str:
    """Return the name of a plan's column in a DataFrame: unique even if two inputs have a column of the same name.

    >>> column_name(Field("speed", "double", "Traffic")), column_name(Field("top", "double"))
    ('Traffic__speed', 'top')
    """
    return f"{field.qualifier}__{field.name}" if field.qualifier else field.name


def quote(name: str) -> str:
    """Return a name in backticks, as Spark reads it, whatever characters it has.

    >>> quote("a.b")
    '`a.b`'
    """
    return "`" + name.replace("`", "``") + "`"


def batch_time(event: Column) -> Column:
    """Return the time of the micro-batch in milliseconds for each row with an `event` time.

    It is taken from an array by an index that depends on the row. As a constant it would be part of the generated code,
    which Spark would have to compile again for every batch.
    """
    return F.get(F.array(F.unix_millis(F.current_timestamp())), event.bitwiseAND(F.lit(0)).cast("int"))


def dataframe_of(scan: Scan, streams: Mapping[str, DataFrame]) -> DataFrame:
    """Return the DataFrame of a scan's stream, whatever the case of its name."""
    names = {name.lower(): name for name in streams}
    if scan.stream.lower() not in names:
        raise InputError(
            "SW-432", f"no DataFrame is given for the stream '{scan.stream}'", hint=nearest(scan.stream, streams)
        )
    return streams[names[scan.stream.lower()]]
