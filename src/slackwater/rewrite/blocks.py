"""One SELECT as a record: select list, result frequency, HAVING, grouping, and the plan that it reads."""

from __future__ import annotations

from dataclasses import dataclass, replace

from slackwater.algebra.nodes import (
    Aggregate,
    Frequency,
    Item,
    Plan,
    Project,
    Scan,
    Select,
    Subquery,
    View,
    Window,
    inputs,
    walk,
    with_inputs,
)
from slackwater.algebra.schema import Expr
from slackwater.rewrite.change import Context
from slackwater.rewrite.laws.push_frequencies_into_windows import push_frequencies_into_windows
from slackwater.rewrite.laws.turn_frequencies_into_slides import turn_frequencies_into_slides
from slackwater.rewrite.references import substitute, with_references


@dataclass(frozen=True, slots=True)
class Block:
    """A query whose expressions all refer to `body`: names of grouping columns are replaced by their expressions."""

    items: tuple[Item, ...]
    frequency: Frequency | None
    by: tuple[Expr, ...]
    having: Expr | None
    aggregate: Aggregate | None
    body: Plan

    @classmethod
    def of(cls, query: Plan) -> Block | None:
        """Return the block of a query. Aliases are numbered and window frequencies are moved into their windows.

        Two queries that differ only in these points have equal blocks.
        """
        query = _jumping(_unnamed(query), Context())
        if not isinstance(query, Project):
            return None
        below = query.child
        frequency = below if isinstance(below, Frequency) else None
        below = frequency.child if frequency else below
        having = below.condition if isinstance(below, Select) and isinstance(below.child, Aggregate) else None
        below = below.child if having and isinstance(below, Select) else below
        aggregate = below if isinstance(below, Aggregate) else None
        named = aggregate.group + aggregate.aggregates if aggregate else ()
        by = tuple(Expr(column, "") for column in (frequency.by if frequency else ()))
        return cls(
            items=tuple(Item(item.name, _meaning(item.expr, named)) for item in query.items),
            frequency=frequency,
            by=tuple(_meaning(column, named) for column in by),
            having=_meaning(having, named) if having else None,
            aggregate=aggregate,
            body=aggregate.child if aggregate else below,
        )

    @property
    def grouping(self) -> frozenset[str] | None:
        """Return the grouping expressions; None if the query does not group."""
        return frozenset(item.expr.sql for item in self.aggregate.group) if self.aggregate else None

    def reads_like(self, other: Block) -> bool:
        """Return whether both blocks have the same grouping and the same HAVING."""
        return self.grouping == other.grouping and self.having == other.having

    def one_row_per_instant(self) -> bool:
        """Return whether each instant yields exactly one row: the window is partitioned by the grouping columns."""
        parted = isinstance(self.body, Window) and frozenset(self.body.by) == self.grouping
        return parted and self.having is None


def _meaning(expr: Expr, named: tuple[Item, ...]) -> Expr:
    return substitute(expr, named) if named else expr


def _unnamed(plan: Plan) -> Plan:
    """Return the plan with its aliases replaced by numbers, in the order of their appearance."""
    found = [each.alias.lower() for each in walk(plan) if isinstance(each, (Scan, Subquery, View))]
    number = {alias: f"s{place}" for place, alias in enumerate(dict.fromkeys(found))}

    def spell(name: str) -> str:
        alias, dot, column = name.rpartition(".")
        return f"{number.get(alias.lower(), alias)}.{column}" if dot else name

    def renamed(each: Plan) -> Plan:
        each = with_inputs(with_references(each, spell), tuple(renamed(below) for below in inputs(each)))
        return replace(each, alias=number[each.alias.lower()]) if isinstance(each, (Scan, Subquery, View)) else each

    return renamed(plan)


def _jumping(plan: Plan, context: Context) -> Plan:
    """Return the plan with the frequency of every window moved into that window."""
    plan = with_inputs(plan, tuple(_jumping(each, context.under(plan)) for each in inputs(plan)))
    change = turn_frequencies_into_slides(plan, context) or push_frequencies_into_windows(plan, context)
    return change.plan if change else plan
