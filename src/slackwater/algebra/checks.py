"""Checks that every plan must pass, whether it was written as SQL, in Python or as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from slackwater.algebra.expressions import aggregates, columns, is_aggregate, nested_aggregates, parse_expr
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
    inputs,
    walk,
)
from slackwater.algebra.policies import parse_ratio
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.properties.instants import extents_of, instants_of
from slackwater.algebra.properties.widening import common_type
from slackwater.algebra.schema import PSEUDO_COLUMNS, UNKNOWN, Expr, Schema
from slackwater.errors import QueryError

ESTIMATORS = ("budget", "adaptive", "periodic", "adhoc", "max-delay", "two-max", "quantile")
"""Estimators that may follow `DRATIO p% USING`. A fixed SLACK is not an estimator."""
GATHERING = (Join, Minus, Aggregate, Distinct)
"""Operators that combine all rows of an instant."""


def check(plan: Plan) -> Plan:
    """Return the plan if every operator is sound and its answers are as final as its root says, else raise."""
    for node in walk(plan)[1:]:
        if isinstance(node, Emit):
            raise QueryError("SW-232", "an Emit stands inside the plan", expected="one at its root", hint="remove it")
    for node in reversed(walk(plan)):
        check_node(node)
    if not isinstance(plan, Emit) or plan.mode is Mode.FINAL:
        check_final(plan)
    return plan


def check_node(plan: Plan) -> None:
    """Raise if this operator is unsound. Its inputs must be checked already."""
    if isinstance(plan, GATHERING):
        _check_one_pace(plan)
    match plan:
        case Disorder(child=child, policy=policy):
            _check_control(child, policy)
        case Window(child=child, by=by) | Frequency(child=child, by=by):
            _check_references(by, schema_of(child))
        case Select(child=child, condition=condition):
            _check_condition(condition, child)
        case Project(child=child, items=items):
            _check_items(items, child)
        case Aggregate():
            _check_aggregate(plan)
        case Join():
            check_join(plan)
        case Union(left=left, right=right):
            check_sides(left, right, "UNION ALL")
        case Minus(left=left, right=right):
            check_sides(left, right, "EXCEPT")
            _check_same_instants(left, right)
        case Emit(child=child, mode=mode, sync=True):
            _check_sync(child, mode)
        case Scan() | View() | Subquery() | Distinct() | Emit():
            pass


def pseudo_columns(plan: Plan) -> Mapping[str, str]:
    """Return the pseudo-columns that an expression over this operator may name, with their types."""
    instants = instants_of(plan)
    names = {"row_time"}
    if instants.at_boundaries:
        names.add("window_end")
        if instants.window and instants.window.is_time and len(extents_of(plan)) == 1:
            names.add("window_start")
    elif not any(isinstance(each, Join) for each in _same_query(plan)):
        names.add("row_number")
    return {name: kind for name, kind in PSEUDO_COLUMNS.items() if name in names}


def check_columns(expr: Expr, child: Plan) -> None:
    """Raise if an expression names a column that the child does not have; pseudo-columns of the instant are allowed."""
    schema, pseudo = schema_of(child), pseudo_columns(child)
    for reference in columns(expr):
        check_reference(reference, schema, pseudo)


def check_reference(reference: str, schema: Schema, pseudo: Mapping[str, str]) -> None:
    if schema.matching(reference) or reference.lower() not in PSEUDO_COLUMNS:
        qualifier = reference.rpartition(".")[0]
        if schema.matching(reference) or not (qualifier and schema.matching(qualifier)):
            schema.find(reference)
    elif reference.lower() in pseudo:
        return
    elif reference.lower() == "window_start" and "window_end" in pseudo:
        raise QueryError(
            "SW-225", "'window_start' does not exist here", expected="extents in time, all of one RANGE and SLIDE",
            hint="use window_end, or select window_start in each subquery that has such extents",
        )  # fmt: skip
    else:
        boundary = reference.lower().startswith("window")
        raise QueryError(
            "SW-225",
            f"'{reference.lower()}' does not exist here",
            expected="a window with SLIDE, or with RANGE and a FREQUENCY in time"
            if boundary
            else "one stream, without SLIDE: there every row has a number",
            hint="add RANGE and SLIDE in time to the stream"
            if boundary
            else "use row_time, or select row_number in a subquery over one stream without SLIDE",
        )


def no_aggregates(calls: Iterable[object], where: str) -> None:
    for _ in calls:
        raise QueryError(
            "SW-220",
            f"an aggregate cannot stand in {where}",
            expected="an expression over single rows",
            hint={"WHERE": "use HAVING to filter by an aggregate"}.get(
                where, "compute the aggregate in a subquery first"
            ),
        )


def check_join(join: Join) -> None:
    """Raise unless both sides share their instants: extents with the same boundaries, or windows at every row."""
    left, right = instants_of(join.left), instants_of(join.right)
    taken = {each.qualifier.lower() for each in schema_of(join.left) if each.qualifier}
    if twice := [each.qualifier for each in schema_of(join.right) if each.qualifier.lower() in taken]:
        raise QueryError(
            "SW-205", f"the alias '{twice[0]}' is given twice", expected="an alias of its own for each source",
            hint="give one of them another alias",
        )  # fmt: skip
    if left.at_boundaries and right.at_boundaries and left.every != right.every:
        raise QueryError(
            "SW-227", f"one side slides by {left.every}, the other by {right.every}",
            expected="the same SLIDE on both sides", hint="give both windows the same SLIDE",
        )  # fmt: skip
    if left.at_boundaries != right.at_boundaries or left.at_rows != right.at_rows or _jumps(left.every):
        raise QueryError(
            "SW-227", f"one side has its instants {_when(join.left)}, the other {_when(join.right)}",
            expected="SLIDE on both sides, or on neither",
            hint="give both windows the same SLIDE, or leave SLIDE and FREQUENCY out of both",
        )  # fmt: skip
    if join.condition:
        _check_condition(join.condition, join)


def check_sides(left: Plan, right: Plan, operation: str) -> None:
    """Raise unless both sides have the same number of columns, with types that have a common type."""
    mine, other = schema_of(left), schema_of(right)
    if len(mine) != len(other):
        raise QueryError(
            "SW-226", f"{operation} of {len(mine)} columns with {len(other)}", expected="as many columns on both sides",
            hint="select the same columns on both sides",
        )  # fmt: skip
    for one, two in zip(mine, other, strict=True):
        if common_type(one.type, two.type) is None:
            raise QueryError(
                "SW-226", f"{operation} of {one.name} {one.type} with {two.name} {two.type}",
                expected="types that go together, column by column", hint=f"write CAST({two.name} AS {one.type})",
            )  # fmt: skip


def check_final(plan: Plan) -> None:
    """Raise if an answer of the plan may still change. The error says how to get a changelog instead."""
    for node in walk(plan):
        check_answer(node)


def check_answer(node: Plan) -> None:
    """Raise if the answers of this operator may still change. Its inputs must be checked already."""
    if isinstance(node, Scan) and node.change_type:
        raise QueryError(
            "SW-230", f"a stream with CHANGELOG BY has no final answer: rows of '{node.stream}' may be taken back",
            expected="EMIT CHANGES", hint="add EMIT CHANGES at the end of the query, and leave SLIDE and FREQUENCY out",
        )  # fmt: skip
    if reason := _unfinal(node):
        raise QueryError(
            "SW-230", f"{reason} has no final answer", expected="EMIT CHANGES, or a window with SLIDE",
            hint="add EMIT CHANGES at the end of the query, or RANGE and SLIDE to the stream",
        )  # fmt: skip


def _unfinal(node: Plan) -> str:
    match node:
        case Aggregate(child=child) if instants_of(child).window is None:
            return "an aggregate over all of an endless stream"
        case Aggregate(child=child) if instants_of(child).at_rows and _joins(child):
            return "an aggregate over a join of windows at rows"
        case Distinct(child=child) if instants_of(child).at_rows:
            return "DISTINCT at every row"
        case Minus(left=left, right=right) if instants_of(left).at_rows or instants_of(right).at_rows:
            return "EXCEPT at every row"
        case _:
            return ""


def _same_query(plan: Plan) -> list[Plan]:
    """Return the operators of this query without entering subqueries and views."""
    if isinstance(plan, (View, Subquery)):
        return [plan]
    return [plan, *(each for child in inputs(plan) for each in _same_query(child))]


def _joins(plan: Plan) -> bool:
    return any(isinstance(each, Join) for each in _same_query(plan))


def _check_control(child: Plan, policy: Policy) -> None:
    if not isinstance(child, (Scan, Select, Project)):
        raise QueryError(
            "SW-221", "disorder control stands at a stream's entry", expected="a stream below it",
            hint="put it right above the scan",
        )  # fmt: skip
    parse_ratio(policy.dratio)
    if policy.estimator is not None and policy.estimator not in ESTIMATORS:
        raise QueryError(
            "SW-127", f"'{policy.estimator}' is not an estimator", expected=", ".join(ESTIMATORS),
            hint="choose one of them",
        )  # fmt: skip
    check_cap(policy)
    for name in ("slack", "bsize", "idle", "skew", "within"):
        value = getattr(policy, name)
        if value is not None and value < (name in ("bsize", "within")):
            raise QueryError(
                "SW-114", f"{name} cannot be {value}", expected="a whole number that is not negative",
                hint="give another number",
            )  # fmt: skip


def check_cap(policy: Policy) -> None:
    """Raise if WITHIN is stated without a drop ratio that it could cap."""
    if policy.within is not None and policy.dratio is None:
        raise QueryError(
            "SW-244", "WITHIN caps the hold of a drop ratio, and none is stated",
            expected="DRATIO 1% WITHIN 30 seconds", hint="state a drop ratio as well",
        )  # fmt: skip


def _check_references(by: tuple[str, ...], schema: Schema) -> None:
    for reference in by:
        schema.find(reference)


def _check_condition(condition: Expr, child: Plan) -> None:
    check_columns(condition, child)
    no_aggregates(aggregates(parse_expr(condition.sql)), "a condition on rows")
    check_boolean(condition)


def check_boolean(condition: Expr) -> None:
    if condition.type not in ("boolean", "void", UNKNOWN):
        raise QueryError(
            "SW-224", f"the condition is of type {condition.type}", expected="a condition that is true or false",
            hint="compare it with something",
        )  # fmt: skip


def _check_items(items: tuple[Item, ...], child: Plan) -> None:
    check_names(item.name for item in items)
    for item in items:
        check_columns(item.expr, child)
        no_aggregates(aggregates(parse_expr(item.expr.sql)), "a projection")


def check_names(names: Iterable[str]) -> None:
    """Raise if two columns of a result have the same name."""
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            raise QueryError(
                "SW-206", f"two columns are named '{name}'", expected="a name of its own for each column",
                hint="give one of them another name with AS",
            )  # fmt: skip
        seen.add(name.lower())


def _check_aggregate(plan: Aggregate) -> None:
    check_names(item.name for item in plan.group + plan.aggregates)
    for item in plan.group:
        check_columns(item.expr, plan.child)
        no_aggregates(aggregates(parse_expr(item.expr.sql)), "GROUP BY")
    for item in plan.aggregates:
        check_columns(item.expr, plan.child)
        call = parse_expr(item.expr.sql)
        if not is_aggregate(call):
            raise QueryError(
                "SW-222", f"'{item.expr.sql}' is not an aggregate", expected="one call such as AVG(speed)",
                hint="compute the rest in a projection above",
            )  # fmt: skip
        no_aggregates(nested_aggregates(call), "another aggregate")


def _check_same_instants(left: Plan, right: Plan) -> None:
    one, two = instants_of(left), instants_of(right)
    if one.every != two.every:
        raise QueryError(
            "SW-227", f"one side of EXCEPT has its instants {_when(left)}, the other {_when(right)}",
            expected="the same SLIDE on both sides", hint="give both windows the same SLIDE",
        )  # fmt: skip


def _check_one_pace(plan: Plan) -> None:
    """Raise if an operator that combines the rows of an instant reads rows with different instants."""
    for child in inputs(plan):
        for each in _same_query(child):
            if isinstance(each, Union) and instants_of(each.left).every != instants_of(each.right).every:
                raise QueryError(
                    "SW-227", f"UNION ALL puts answers together that come {_when(each.left)} and {_when(each.right)}",
                    expected="the same SLIDE on both sides of what is compared, joined or grouped",
                    hint="give both windows the same SLIDE, or put the UNION ALL into a subquery and a window over it",
                )  # fmt: skip


def _check_sync(child: Plan, mode: Mode) -> None:
    if mode is not Mode.FINAL or not instants_of(child).at_boundaries:
        raise QueryError(
            "SW-231", "WITH SYNC needs extents that end", expected="EMIT FINAL over a window with SLIDE",
            hint="write RANGE, SLIDE and EMIT FINAL, or remove WITH SYNC",
        )  # fmt: skip


def _jumps(every: object) -> bool:
    return getattr(every, "is_time", True) is False and getattr(every, "amount", 1) != 1


def _when(plan: Plan) -> str:
    instants = instants_of(plan)
    return "at every row" if instants.at_rows else f"every {instants.every}"
