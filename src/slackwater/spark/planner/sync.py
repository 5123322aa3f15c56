"""WITH SYNC: after the rows of an extent comes one row, which says that the extent is complete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import TimestampType

from slackwater.algebra.nodes import Frequency, Plan, Subquery, View, Window, inputs
from slackwater.algebra.properties.instants import instants_of
from slackwater.errors import QueryError
from slackwater.spark.planner.windows import ROWS, mark_watermark
from slackwater.spark.relation import BOUNDARY, Relation, quote

SYNC = "_sync"
WINDOW_END = "window_end"


def extents_of(plan: Plan) -> list[Plan]:
    """Return the windows of a query itself, not those of its subqueries. Sync rows come at their boundaries."""
    if isinstance(plan, (Window, Frequency, Subquery, View)) and instants_of(plan).at_boundaries:
        return [plan]
    return [each for child in inputs(plan) for each in extents_of(child)]


def with_sync(relation: Relation, names: Mapping[str, str], windows: Sequence[Relation]) -> DataFrame:
    """Return the rows with `_sync` false, and a row with `_sync` true for each boundary at which a window has a row.

    `window_end` is the boundary of both, unless the query has such a column of its own. The rows of the windows are
    read beside the query, because a selection above a window may leave none of them.
    """
    columns = [F.col(quote(name)).alias(new) for name, new in names.items()]
    if WINDOW_END not in (new.lower() for new in names.values()):
        columns.append(F.col(BOUNDARY).alias(WINDOW_END))
    rows = relation.df.select(*columns, F.lit(False).alias(SYNC))
    _check(rows)
    held = reduce(DataFrame.union, (each.df.select(BOUNDARY) for each in windows)).select(
        mark_watermark(F.col(BOUNDARY))
    )
    closed = held.groupBy(BOUNDARY).agg(F.count(F.lit(1)).alias(ROWS))
    signals = closed.select(F.col(BOUNDARY).alias(WINDOW_END), F.lit(True).alias(SYNC))
    return rows.unionByName(signals, allowMissingColumns=True)


def _check(rows: DataFrame) -> None:
    given = [field for field in rows.schema if field.name.lower() == WINDOW_END]
    if not isinstance(given[0].dataType, TimestampType) or sum(name.lower() == SYNC for name in rows.columns) > 1:
        raise QueryError(
            "SW-303",
            f"a column of the query has the name of one that sync rows need: {WINDOW_END} or {SYNC}",
            expected=f"a timestamp under the name {WINDOW_END}, and no column named {SYNC}",
            hint="give that column another name with AS",
        )
