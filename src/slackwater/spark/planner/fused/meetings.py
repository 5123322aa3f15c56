"""Number the meetings of a changelog's tree: windows at boundaries that are read together.

Such windows are gathered by one join, EXCEPT, group or DISTINCT. Each is read wherever another of them is evaluated,
and as a whole, not part by part. The place of reading matters only to the last n rows of a stream, which are there at
every boundary (`engine.changelog.chained`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from slackwater.engine import plan as engine
from slackwater.spark.planner.fused.order import is_merging

WITHIN = (engine.FilterStep, engine.ProjectStep, engine.AggregateStep, engine.DistinctStep)
"""Steps of a chain that leave its instants what they are."""
Meets = engine.Chained | engine.Piped | engine.Streamed | engine.Read


def number_meetings(root: engine.Node) -> engine.Node:
    """Return the same operators; those that are read together have the number of their meeting."""
    return _number(root, count(1), None)


def _number(node: engine.Node, numbers: Iterator[int], meeting: int | None) -> engine.Node:
    """Number the meetings below an operator of `meeting`, which is 0 if all of its windows end by themselves."""
    within = _is_relational(node)
    if meeting is None and _gathers(node) and _meet(sides := list(_sides(node))):
        meeting = next(numbers) if any(map(_counts_rows, sides)) else 0
    made = engine.with_children(
        node, *(_number(each, numbers, meeting if within else None) for each in engine.children(node))
    )
    if within or meeting is None:
        return made
    made = _without_parts(made)
    return replace(made, meeting=meeting) if meeting and isinstance(made, Meets) else made


def _gathers(node: engine.Node) -> bool:
    return isinstance(node, engine.JoinLogs) or is_merging(node)


def _is_relational(node: engine.Node) -> bool:
    row_wise = isinstance(node, engine.Over) and isinstance(node.step, engine.ROW_WISE)
    return row_wise or _gathers(node) or isinstance(node, engine.UnionLogs | engine.Placed | engine.Ordered)


def _sides(node: engine.Node) -> Iterator[engine.Node]:
    """Return the operators that an operator gathers."""
    if _is_relational(node):
        for each in engine.children(node):
            yield from _sides(each)
    else:
        yield node


def _meet(sides: list[engine.Node]) -> bool:
    """Return whether there are several sides, all with answers at boundaries."""
    slides = [
        each.slide if isinstance(each, engine.Read) else each.lifetime if isinstance(each, Meets) else None
        for each in sides
    ]
    return len(sides) > 1 and None not in slides


def _counts_rows(side: engine.Node) -> bool:
    """Return whether a side is the last n rows of a stream, read at boundaries."""
    steps = _steps(side)
    step = steps[_place_of_instants(steps)] if steps else None
    return isinstance(step, engine.WindowStep) and not step.range.is_time


def _without_parts(side: engine.Node) -> engine.Node:
    """Return the same window, whose parts are read as one relation."""
    steps = _steps(side)
    place = _place_of_instants(steps)
    step = steps[place] if steps else None
    if not isinstance(step, engine.WindowStep) or not step.by:
        return side
    # an extent of time is the same without parts
    whole = replace(step, by=(), count_by=()) if step.range.is_time else replace(step, whole=True)
    made = (*steps[:place], whole, *steps[place + 1 :])
    if isinstance(side, engine.Chained):
        return replace(side, chain=replace(side.chain, steps=made))
    return replace(side, steps=made) if isinstance(side, engine.Piped) else side


def _steps(side: engine.Node) -> tuple[engine.Step, ...]:
    """Return the steps of a chain or a pipe."""
    if isinstance(side, engine.Chained):
        return side.chain.steps
    return side.steps if isinstance(side, engine.Piped) else ()


def _place_of_instants(steps: tuple[engine.Step, ...]) -> int:
    """Return the place of the last step that says when it is evaluated; 0 if there is none."""
    return next((place for place in reversed(range(len(steps))) if not isinstance(steps[place], WITHIN)), 0)
