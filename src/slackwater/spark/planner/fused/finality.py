"""Which parts of a changelog's plan have final answers, and how those can be read as a stream."""

from __future__ import annotations

from slackwater.algebra.lengths import ONE_TUPLE
from slackwater.algebra.nodes import (
    Aggregate,
    Disorder,
    Distinct,
    Frequency,
    Join,
    Minus,
    Plan,
    Project,
    Scan,
    Select,
    Subquery,
    Union,
    View,
    Window,
    inputs,
    walk,
    with_inputs,
)

SETS = (Join, Union, Minus)


def one_stream(plan: Plan) -> bool:
    """Whether a plan is a chain over one stream."""
    nodes = walk(plan)
    return sum(isinstance(node, Scan) for node in nodes) == 1 and not any(isinstance(node, SETS) for node in nodes)


def row_wise(plan: Plan) -> Plan | None:
    """A query of filters and projections without its window, which does not matter to the rows that it yields."""
    match plan:
        case Scan() | Subquery() | View():
            return plan
        case Disorder() | Select() | Project():
            below = row_wise(inputs(plan)[0])
            return None if below is None else with_inputs(plan, (below,))
        case Window(child=child, every=every) if every == ONE_TUPLE:
            return row_wise(child)
    return None


def leaf_of(plan: Plan) -> Subquery | View | None:
    """The subquery that a chain of operators reads; None for what reads several, or a stream."""
    match plan:
        case Subquery() | View():
            return plan
        case Select() | Project() | Window() | Frequency() | Aggregate() | Distinct():
            return leaf_of(inputs(plan)[0])
    return None


def unions(plan: Plan) -> list[Union]:
    """The unions of a query and of its subqueries."""
    return [node for node in walk(plan) if isinstance(node, Union)]
