"""Plans written in Python: a fluent form of the algebra.

>>> query = scan("Pulse").window(range="1 minute").group("Id").count().frequency(10, by="Id")
>>> type(query.plan).__name__, query.plan.every.amount
('Frequency', 10)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module

from slackwater.algebra.expressions import column_node, text
from slackwater.algebra.lengths import ONE_TUPLE, Length, ticks_of
from slackwater.algebra.nodes import (
    Aggregate,
    Disorder,
    Distinct,
    Emit,
    Frequency,
    Item,
    Join,
    Minus,
    Mode,
    Plan,
    Policy,
    Project,
    Scan,
    Select,
    Subquery,
    Union,
    Window,
)
from slackwater.algebra.policies import parse_ratio
from slackwater.algebra.schema import UNKNOWN, Expr
from slackwater.errors import QueryError

Columns = str | tuple[str, ...] | list[str]


@dataclass(frozen=True, slots=True)
class Query:
    """A plan under construction. Every method returns a new query; `explain` and `run` accept it directly."""

    plan: Plan

    def _repr_html_(self) -> str:
        """Return the plan as an HTML picture for notebooks. The renderer is imported on first use."""
        return str(import_module("slackwater.app.live.notebook").plan_html(self.plan))

    def control(
        self,
        *,
        dratio: str | float | None = None,
        slack: int | None = None,
        bsize: int | None = None,
        estimator: str | None = None,
        idle: str | None = None,
        skew: str | None = None,
        within: str | None = None,
    ) -> Query:
        """Set the disorder policy of a scan: `control(dratio="1%", within="30 seconds")`."""
        if not isinstance(self.plan, Disorder):
            raise QueryError(
                "SW-221", "disorder control stands at a stream's entry", hint="call control right after scan"
            )
        times = ticks_of(idle), ticks_of(skew), ticks_of(within)
        policy = Policy(parse_ratio(dratio), slack, bsize, estimator, *times)
        return Query(replace(self.plan, policy=policy))

    def window(
        self, *, range: str | int, slide: str | None = None, every: str | int | None = None, by: Columns = ()
    ) -> Query:
        """Add a window: `window(range="5 minutes", slide="1 minute")`; `every` makes it a jumping window."""
        window = Window(self.plan, _length(range), Length.parse(slide) if slide else ONE_TUPLE, _columns(by))
        if every is None:
            return Query(window)
        return Query(Frequency(replace(window, by=()), _length(every), _columns(by)))

    def frequency(self, every: str | int, *, by: Columns = (), strict: bool = False) -> Query:
        """Keep every n-th row (a number), or the last row of each time slot (`"1 minute"`)."""
        return Query(Frequency(self.plan, _length(every), _columns(by), strict))

    def where(self, condition: str) -> Query:
        """Keep the rows, or after `group` the groups, for which the condition is true."""
        return Query(Select(self.plan, Expr(condition, UNKNOWN)))

    def select(self, *columns: str, **named: str) -> Query:
        """Add a select list: columns by name, expressions as `name="expression"`."""
        return Query(Project(self.plan, _named(columns, named)))

    def group(self, *columns: str, **named: str) -> Grouped:
        """Group by columns or named expressions; an aggregate must follow."""
        return Grouped(self.plan, _named(columns, named))

    def aggregate(self, **named: str) -> Query:
        """Aggregate the whole relation: `aggregate(top="MAX(speed)")`."""
        return Grouped(self.plan, ()).aggregate(**named)

    def join(self, other: Query, on: str | None = None) -> Query:
        """Join with another query. `on` may name columns of both sides; without it the result is the product.

        >>> reads = scan("Readings", "r").window(range="1 minute", slide="1 minute")
        >>> alarms = scan("Alarms", "a").window(range="1 minute", slide="1 minute")
        >>> type(reads.join(alarms, on="r.id = a.id").plan).__name__
        'Join'
        """
        return Query(Join(self.plan, other.plan, Expr(on, UNKNOWN) if on else None))

    def union(self, other: Query) -> Query:
        """Combine the rows of both queries (UNION ALL); columns are matched by position."""
        return Query(Union(self.plan, other.plan))

    def minus(self, other: Query) -> Query:
        """Keep the rows that have no equal row in the other query, each once (EXCEPT)."""
        return Query(Minus(self.plan, other.plan))

    def distinct(self) -> Query:
        """Keep each row of the relation once."""
        return Query(Distinct(self.plan))

    def alias(self, name: str) -> Query:
        """Return this query as a named source for another query."""
        return Query(Subquery(name, self.plan))

    def emit(self, mode: str = "final", *, sync: bool = False) -> Query:
        """Emit final rows (`"final"`) or a changelog (`"changes"`); `sync` adds sync rows."""
        return Query(Emit(self.plan, Mode(mode), sync))


@dataclass(frozen=True, slots=True)
class Grouped:
    """A grouping whose aggregates are not stated yet."""

    plan: Plan
    by: tuple[Item, ...]

    def aggregate(self, **named: str) -> Query:
        """Add named aggregates: `aggregate(average="AVG(speed)", n="COUNT(*)")`."""
        if not named:
            raise QueryError("SW-222", "an aggregate is needed", hint='name one: aggregate(n="COUNT(*)")')
        return Query(Aggregate(self.plan, self.by, _named((), named)))

    def count(self) -> Query:
        """Count the rows of each group, in the column `count`."""
        return self.aggregate(count="COUNT(*)")

    def sum(self, column: str) -> Query:
        """Add up a column, in the column `sum`."""
        return self._one("SUM", column)

    def avg(self, column: str) -> Query:
        """Average a column, in the column `avg`."""
        return self._one("AVG", column)

    def min(self, column: str) -> Query:
        """Return the smallest value of a column, in the column `min`."""
        return self._one("MIN", column)

    def max(self, column: str) -> Query:
        """Return the largest value of a column, in the column `max`."""
        return self._one("MAX", column)

    def _one(self, function: str, column: str) -> Query:
        return self.aggregate(**{function.lower(): f"{function}({text(column_node(column))})"})


def scan(stream: str, alias: str | None = None, *, wattr: str = "") -> Query:
    """Return a query that reads a declared stream, under the default policy until `control` states another.

    Its methods build a plan without SQL: `control`, `window`, `frequency`, `where`, `select`, `group`, `aggregate`,
    `join`, `union`, `minus`, `distinct`, `alias` and `emit`. `sql`, `explain` and `run` take the result.

    Parameters
    ----------
    stream
        The name of the stream.
    alias
        The name by which the query calls it.
    wattr
        The column with the event time, if it is not the one that the stream declares.

    Examples
    --------
    query = sw.scan("Events").control(dratio="1%").window(range="1 minute").group("sensor").count()
    rates = query.frequency(10, by="sensor")
    """
    return Query(Disorder(Scan(stream, alias or stream, (), wattr), Policy()))


def _named(columns: tuple[str, ...], named: dict[str, str]) -> tuple[Item, ...]:
    plain = [Item(name.rpartition(".")[2], Expr(text(column_node(name)), UNKNOWN)) for name in columns]
    return (*plain, *(Item(name, Expr(sql, UNKNOWN)) for name, sql in named.items()))


def _columns(by: Columns) -> tuple[str, ...]:
    return (by,) if isinstance(by, str) else tuple(by)


def _length(value: str | int) -> Length:
    return Length.of(value, "tuples") if isinstance(value, int) else Length.parse(value)
