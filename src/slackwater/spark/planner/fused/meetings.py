"""Number the meetings of a changelog's tree: windows at boundaries that are read together.

Such windows are gathered by one join, EXCEPT, group or DISTINCT. Each is read wherever another of them is evaluated,
and as a whole, not part by part. The place of reading matters only to the last n rows of a stream, which are there at
every boundary (`engine.changelog.chained`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from slackwater.engine.plan import (
    ROW_WISE,
    AggregateStep,
    Chained,
    DistinctStep,
    FilterStep,
    JoinLogs,
    Node,
    Ordered,
    Over,
    Piped,
    Placed,
    ProjectStep,
    Read,
    Step,
    Streamed,
    UnionLogs,
    WindowStep,
    children,
    with_children,
)
from slackwater.spark.planner.fused.order import is_merging

WITHIN = (FilterStep, ProjectStep, AggregateStep, DistinctStep)
"""Steps of a chain that leave its instants what they are."""
Meets = Chained | Piped | Streamed | Read


def number_meetings(root: Node) -> Node:
    """Return the same operators; those that are read together have the number of their meeting."""
    return _number(root, count(1), None)


def _number(node: Node, numbers: Iterator[int], meeting: int | None) -> Node:
    """Number the meetings below an operator of `meeting`, which is 0 if all of its windows end by themselves."""
    within = _is_relational(node)
    if meeting is None and _gathers(node) and _meet(sides := list(_sides(node))):
        meeting = next(numbers) if any(map(_counts_rows, sides)) else 0
    made = with_children(node, *(_number(each, numbers, meeting if within else None) for each in children(node)))
    if within or meeting is None:
        return made
    made = _without_parts(made)
    return replace(made, meeting=meeting) if meeting and isinstance(made, Meets) else made


def _gathers(node: Node) -> bool:
    return isinstance(node, JoinLogs) or is_merging(node)


def _is_relational(node: Node) -> bool:
    row_wise = isinstance(node, Over) and isinstance(node.step, ROW_WISE)
    return row_wise or _gathers(node) or isinstance(node, UnionLogs | Placed | Ordered)


def _sides(node: Node) -> Iterator[Node]:
    """Return the operators that an operator gathers."""
    if _is_relational(node):
        for each in children(node):
            yield from _sides(each)
    else:
        yield node


def _meet(sides: list[Node]) -> bool:
    """Return whether there are several sides, all with answers at boundaries."""
    slides = [
        each.slide if isinstance(each, Read) else each.lifetime if isinstance(each, Meets) else None for each in sides
    ]
    return len(sides) > 1 and None not in slides


def _counts_rows(side: Node) -> bool:
    """Return whether a side is the last n rows of a stream, read at boundaries."""
    steps = _steps(side)
    step = steps[_place_of_instants(steps)] if steps else None
    return isinstance(step, WindowStep) and not step.range.is_time


def _without_parts(side: Node) -> Node:
    """Return the same window, whose parts are read as one relation."""
    steps = _steps(side)
    place = _place_of_instants(steps)
    step = steps[place] if steps else None
    if not isinstance(step, WindowStep) or not step.by:
        return side
    # an extent of time is the same without parts
    whole = replace(step, by=(), count_by=()) if step.range.is_time else replace(step, whole=True)
    made = (*steps[:place], whole, *steps[place + 1 :])
    if isinstance(side, Chained):
        return replace(side, chain=replace(side.chain, steps=made))
    return replace(side, steps=made) if isinstance(side, Piped) else side


def _steps(side: Node) -> tuple[Step, ...]:
    """Return the steps of a chain or a pipe."""
    if isinstance(side, Chained):
        return side.chain.steps
    return side.steps if isinstance(side, Piped) else ()


def _place_of_instants(steps: tuple[Step, ...]) -> int:
    """Return the place of the last step that says when it is evaluated; 0 if there is none."""
    return next((place for place in reversed(range(len(steps))) if not isinstance(steps[place], WITHIN)), 0)
