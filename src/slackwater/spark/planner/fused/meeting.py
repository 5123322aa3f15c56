"""Which windows at boundaries of a changelog's tree are read together: those of one join, EXCEPT, group or DISTINCT.

Each is looked at wherever another is evaluated, and then as a whole, not part by part. The former matters to the last n
rows of a stream, which are there at every boundary (kernels.changelog.meeting).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from slackwater.engine.plan import (
    AggregateStep,
    Chained,
    Compute,
    DistinctStep,
    FilterStep,
    JoinLogs,
    MinusLogs,
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

WITHIN = (FilterStep, ProjectStep, AggregateStep, DistinctStep)
"""Steps of a chain that leave its instants what they are."""
Meets = Chained | Piped | Streamed | Read


def meeting(root: Node) -> Node:
    """The same operators; what is read together has the number of its meeting."""
    return _marked(root, count(1), None)


def _is_gathering(node: Node) -> bool:
    match node:
        case JoinLogs() | MinusLogs() | Over(step=AggregateStep() | DistinctStep()):
            return True
    return False


def _is_relational(node: Node) -> bool:
    match node:
        case UnionLogs() | Placed() | Ordered() | Over(step=FilterStep() | ProjectStep() | Compute()):
            return True
    return _is_gathering(node)


def _marked(node: Node, numbers: Iterator[int], number: int | None) -> Node:
    """`number` is that of the meeting: 0 for one of windows that all end by themselves."""
    within = _is_relational(node)
    if number is None and _is_gathering(node) and _meets(sides := list(_sides(node))):
        number = next(numbers) if any(map(_counts, sides)) else 0
    made = with_children(node, *(_marked(each, numbers, number if within else None) for each in children(node)))
    if within or number is None:
        return made
    made = _whole(made)
    return replace(made, meeting=number) if number and isinstance(made, Meets) else made


def _whole(side: Node) -> Node:
    """The same window, whose parts are read as one relation: an extent is no more than its parts."""
    steps = _steps(side)
    if (place := _last(steps)) is None:
        return side
    made = (*steps[:place], _unparted(steps[place]), *steps[place + 1 :])
    if isinstance(side, Chained):
        return replace(side, chain=replace(side.chain, steps=made))
    return replace(side, steps=made) if isinstance(side, Piped) else side


def _steps(side: Node) -> tuple[Step, ...]:
    """The steps of a chain or a pipe."""
    if isinstance(side, Chained):
        return side.chain.steps
    return side.steps if isinstance(side, Piped) else ()


def _unparted(step: Step) -> Step:
    if not isinstance(step, WindowStep) or not step.by:
        return step
    return replace(step, by=(), count_by=()) if step.range.is_time else replace(step, whole=True)


def _sides(node: Node) -> Iterator[Node]:
    """What an operator gathers."""
    if _is_relational(node):
        for each in children(node):
            yield from _sides(each)
    else:
        yield node


def _meets(sides: list[Node]) -> bool:
    """Whether several sides have their answers at boundaries."""
    slides = [
        each.slide if isinstance(each, Read) else each.lifetime if isinstance(each, Meets) else None for each in sides
    ]
    return len(sides) > 1 and None not in slides


def _counts(side: Node) -> bool:
    """Whether a side is the last n rows of a stream, read at boundaries."""
    steps = _steps(side)
    place = _last(steps)
    step = None if place is None else steps[place]
    return isinstance(step, WindowStep) and not step.range.is_time


def _last(steps: tuple[Step, ...]) -> int | None:
    """The last step of a chain that says when it is evaluated."""
    return next((place for place in reversed(range(len(steps))) if not isinstance(steps[place], WITHIN)), None)
