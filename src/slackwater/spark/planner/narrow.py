"""Find the columns of a stream that a query never reads, so that stateful operators need not keep them.

Spark removes unread columns by itself, except if rows are grouped by all their columns, as we do to hold them until
their extent is closed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from slackwater.algebra.expressions import columns
from slackwater.algebra.nodes import Aggregate, Frequency, Join, Plan, Project, Select, Window, expressions_of, inputs
from slackwater.algebra.schema import Schema
from slackwater.spark.relation import Relation, column_name, quote

IsEntry = Callable[[Plan], bool]


def columns_named_in(plan: Plan, is_entry: IsEntry) -> frozenset[str]:
    """Return the names of all columns that the operators above the entries read, in lower case, without aliases."""
    return frozenset(name.rpartition(".")[2].lower() for name in _references(plan, is_entry))


def covered_entries(plan: Plan, is_entry: IsEntry, hidden: bool = False) -> Iterator[Plan]:
    """Return the entries below a select list or a grouping, which states every column that the query reads of them."""
    if is_entry(plan):
        yield from [plan] * hidden
        return
    match plan:
        case Project() | Aggregate():
            hidden = True
        case Select() | Window() | Frequency() | Join():
            pass
        case _:
            hidden = False
    for each in inputs(plan):
        yield from covered_entries(each, is_entry, hidden)


def keep_columns(relation: Relation, names: frozenset[str]) -> Relation:
    """Return the relation with only these columns and its internal ones."""
    kept = Schema(tuple(field for field in relation.schema if field.name.lower() in names))
    df = relation.df.select(*relation.own, *(quote(column_name(field)) for field in kept))
    return replace(relation, df=df, schema=kept)


def references_of(plan: Plan) -> Iterator[str]:
    """Return the references that an operator makes to columns of its input."""
    for expr in expressions_of(plan):
        yield from columns(expr)
    if isinstance(plan, (Window, Frequency)):
        yield from plan.by


def _references(plan: Plan, is_entry: IsEntry) -> Iterator[str]:
    if is_entry(plan):
        return
    yield from references_of(plan)
    for each in inputs(plan):
        yield from _references(each, is_entry)
