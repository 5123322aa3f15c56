"""Print plans as SQL that binds to the same plan again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from slackwater.algebra.expressions import Tree, column_node, identifier, parse_expr, replace_columns, text
from slackwater.algebra.lengths import ONE_TUPLE, Kind, Length
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
    View,
    Window,
)
from slackwater.algebra.schema import Expr
from slackwater.errors import QueryError

SOURCES = (Window, Disorder, Subquery, View)
"""A frequency directly above one of these belongs to the FROM item; elsewhere it acts on the result."""


def print_query(plan: Plan) -> str:
    """Return the query of a canonical plan. Raise if a rewrite took the plan out of canonical form."""
    match plan:
        case Emit(child=child, mode=mode, sync=sync):
            ends = {(Mode.FINAL, False): "", (Mode.FINAL, True): "\nEMIT FINAL WITH SYNC"}
            return _query(child) + ends.get((mode, sync), "\nEMIT CHANGES")
        case _:
            return _query(plan)


def _query(plan: Plan) -> str:
    match plan:
        case Union(left=left, right=right):
            return f"{_query(left)}\nUNION ALL\n{_operand(right)}"
        case Minus(left=left, right=right):
            return f"{_query(left)}\nEXCEPT\n{_operand(right)}"
        case Project(child=Distinct() | Minus() | Frequency(child=Distinct())):
            return _query(plan.child)  # casts to the common types, which the binder adds again
        case _:
            return _select(plan)


def _operand(plan: Plan) -> str:
    compound = isinstance(plan, (Union, Minus)) or (isinstance(plan, Project) and isinstance(plan.child, Minus))
    return f"({_query(plan)})" if compound else _query(plan)


@dataclass(slots=True)
class _QueryParts:
    """The parts of one select, collected from its plan from the top."""

    items: tuple[Item, ...] = ()
    distinct: bool = False
    frequency: Frequency | None = None
    having: Expr | None = None
    aggregate: Aggregate | None = None
    where: Expr | None = None


def _select(plan: Plan) -> str:
    parts = _QueryParts()
    source = _from(_taken_apart(plan, parts))
    inner = _meanings(parts.aggregate)
    frequency = f" [{_clause(parts.frequency, {} if parts.distinct else inner)}]" if parts.frequency else ""
    group = parts.aggregate.group if parts.aggregate else ()
    lines = [
        f"SELECT {'DISTINCT ' * parts.distinct}{', '.join(_item(item, inner) for item in parts.items)}{frequency}",
        f"FROM {source}",
        f"WHERE {parts.where}" if parts.where else "",
        f"GROUP BY {', '.join(item.expr.sql for item in group)}" if group else "",
        f"HAVING {_inlined(parts.having, inner)}" if parts.having else "",
    ]
    return "\n".join(filter(None, lines))


def _taken_apart(plan: Plan, parts: _QueryParts) -> Plan:
    """Fill in the parts and return the remaining plan, which belongs in FROM."""
    if isinstance(plan, Frequency) and isinstance(plan.child, Distinct):
        parts.frequency, plan = plan, plan.child
    if isinstance(plan, Distinct):
        parts.distinct, plan = True, plan.child
    if not isinstance(plan, Project):
        raise _no_sql(plan)
    parts.items, plan = plan.items, plan.child
    if isinstance(plan, Frequency) and not parts.distinct and not isinstance(plan.child, SOURCES):
        parts.frequency, plan = plan, _under(plan.child)
    if isinstance(plan, Select) and isinstance(plan.child, Aggregate):
        parts.having, plan = plan.condition, plan.child
    if isinstance(plan, Aggregate):
        parts.aggregate, plan = plan, plan.child
    if isinstance(plan, Select):
        parts.where, plan = plan.condition, plan.child
    return plan


def _under(plan: Plan) -> Plan:
    """Skip the projection that separates a result frequency from a window; it is not part of the query."""
    return plan.child if isinstance(plan, Project) and isinstance(plan.child, Window) else plan


def _meanings(aggregate: Aggregate | None) -> dict[str, Tree]:
    """Return the expression behind each column of an aggregate."""
    if aggregate is None:
        return {}
    return {item.name.lower(): parse_expr(item.expr.sql) for item in aggregate.group + aggregate.aggregates}


def _inlined(expr: Expr, inner: Mapping[str, Tree]) -> str:
    whole = inner.get(expr.sql.strip("`").lower())
    return text(whole) if whole else replace_columns(expr, lambda name: inner.get(name.lower(), name)).sql


def _item(item: Item, inner: Mapping[str, Tree]) -> str:
    sql = _inlined(item.expr, inner)
    name = _name(item.name)
    return sql if sql == name else f"{sql} AS {name}"


def _from(plan: Plan) -> str:
    match plan:
        case Join(left=left, right=right, condition=None):
            return f"{_from(left)}, {_source(right)}"
        case Join(left=left, right=right, condition=condition):
            return f"{_from(left)} JOIN {_source(right)} ON {condition}"
        case _:
            return _source(plan)


def _source(plan: Plan) -> str:
    """Return an item of FROM and its bracket."""
    clauses: list[str] = []
    if isinstance(plan, Frequency):
        clauses.append(_clause(plan))
        plan = plan.child
    if isinstance(plan, Window):
        clauses = [f"RANGE {plan.range}", *_slide(plan), *clauses]
        plan = plan.child
    match plan:
        case Disorder(child=Scan(stream=name, alias=alias, event_time=event_time), policy=policy):
            clauses += [f"WATTR {_name(event_time)}", *_policy(policy)]
            source = _aliased(name, alias)
        case View(name=name, alias=alias):
            source = _aliased(name, alias)
        case Subquery(alias=alias, query=query):
            source = f"({_indented(_query(query))}) AS {_name(alias)}"
        case _:
            raise _no_sql(plan)
    return f"{source} [{', '.join(clauses)}]" if clauses else source


def _slide(window: Window) -> list[str]:
    if window.every.is_time:
        return [f"SLIDE {window.every}"]
    if window.by:
        return [f"FREQUENCY {window.every} PARTITIONED BY {', '.join(map(_reference, window.by))}"]
    return [] if window.every == ONE_TUPLE else [f"FREQUENCY {window.every}"]


def _clause(frequency: Frequency, inner: Mapping[str, Tree] | None = None) -> str:
    if frequency.strict:
        raise _no_sql(frequency)
    meant = [(inner or {}).get(each.lower(), column_node(each)) for each in frequency.by]
    columns = [text(each.this if isinstance(each, exp.Last) else each) for each in meant]
    return f"FREQUENCY {frequency.every}" + (f" PARTITIONED BY {', '.join(columns)}" if columns else "")


def _policy(policy: Policy) -> list[str]:
    using = f" USING {policy.estimator}" if policy.estimator else ""
    within = "" if policy.within is None else f" WITHIN {Length(policy.within, Kind.TIME)}"
    stated = {
        "DRATIO": None if policy.dratio is None else _percentage(policy.dratio) + using + within,
        "SLACK": policy.slack,
        "BSIZE": policy.bsize,
        "IDLE": None if policy.idle is None else Length(policy.idle, Kind.TIME),
        "SKEW": None if policy.skew is None else Length(policy.skew, Kind.TIME),
    }
    return [f"{word} {value}" for word, value in stated.items() if value is not None]


def _percentage(ratio: float) -> str:
    """Return the shortest percentage that parses to this ratio."""
    texts = (f"{ratio * 100:.{digits}f}".rstrip("0").rstrip(".") for digits in range(1, 18))
    return next((each for each in texts if float(each) / 100 == ratio), f"{ratio * 100:.17f}") + "%"


def _aliased(name: str, alias: str) -> str:
    return _name(name) if name == alias else f"{_name(name)} AS {_name(alias)}"


def _reference(column: str) -> str:
    return text(column_node(column))


def _name(name: str) -> str:
    return str(identifier(name).sql("spark"))


def _indented(query: str) -> str:
    return query.replace("\n", "\n  ")


def _no_sql(plan: Plan) -> QueryError:
    return QueryError(
        "SW-310", f"{type(plan).__name__} stands where SQL has no place for it", expected="a canonical plan",
        hint="print the plan as a tree or as JSON instead",
    )  # fmt: skip
