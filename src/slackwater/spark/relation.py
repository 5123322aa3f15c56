"""A DataFrame that stands for an operator's rows, and how the names of a plan find their columns in it."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from slackwater.algebra.expressions import Tree, parsed, renamed
from slackwater.algebra.lengths import TICK
from slackwater.algebra.schema import Expr, Field, Schema
from slackwater.errors import QueryError

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
    """Rows of a plan's operator: a column of `df` for each of `schema`, named by `column_name`, and columns of our own.

    `extent` is the length in ticks of the extents that rows belong to, their end being in BOUNDARY; None where rows
    belong to a stream, their event time being in TIME. `complete` rows come once their extent is closed. `order`
    names the columns by which rows are in sequence, where there still are such; `parts` those that take apart what an
    instant evaluates (PARTITIONED BY).
    """

    df: DataFrame
    schema: Schema
    order: tuple[str, ...] = ()
    extent: int | None = None
    complete: bool = False
    parts: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The columns of the plan as `df` has them."""
        return [column_name(field) for field in self.schema]

    @property
    def own(self) -> list[str]:
        """The columns that no query named, which what is above still needs."""
        instant = [TIME] if self.extent is None else [BOUNDARY]
        return [*dict.fromkeys([*instant, *self.order, *self.parts])]

    def column(self, expr: Expr) -> Column:
        """An expression of the plan over this relation."""
        return F.expr(renamed(expr, self.spelled).sql)

    def columns(self) -> list[Column]:
        return [F.col(quoted(name)) for name in self.names]

    def spelled(self, reference: str) -> str | Tree:
        """What a reference of the plan is in `df`.

        An attribute of the instant is computed, be it by nothing: a mere copy of a marked column would carry the mark
        of the watermark, too, and Spark refuses to keep state over two such columns.
        """
        if self.schema.matching(reference):
            return column_name(self.schema.find(reference))
        match reference.lower(), self.extent:
            case "window_end", int():
                return parsed(earlier(0))
            case "window_start", int() as extent:
                return parsed(earlier(extent))
            case "row_time", int():
                return parsed(earlier(TICK))
            case "row_time", None:
                return parsed(f"{TIME} - INTERVAL '0' MICROSECOND")
        raise QueryError(
            "SW-302",
            f"'{reference}' has no value here",
            expected="a column, or window_start, window_end or row_time over a window with SLIDE",
            hint="remove it, or add RANGE and SLIDE to the stream",
        )


def earlier(ticks: int) -> str:
    """The time so many ticks before an extent ends, as Spark writes it."""
    return f"{BOUNDARY} - INTERVAL '{ticks}' MICROSECOND"


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


def batch_time(event: Column) -> Column:
    """Return the time of the micro-batch in milliseconds, beside each row's `event` time.

    As an element of an array that depends on the row it is no constant of the generated code, which Spark would have to
    compile anew for every batch.
    """
    return F.get(F.array(F.unix_millis(F.current_timestamp())), event.bitwiseAND(F.lit(0)).cast("int"))
