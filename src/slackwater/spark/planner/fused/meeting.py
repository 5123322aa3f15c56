"""Which windows at boundaries of a changelog's tree are read together: those of one join, EXCEPT, group or DISTINCT.

Each is looked at wherever another is evaluated, and then as a whole, not part by part. The former matters to the last n
rows of a stream, which are there at every boundary (kernels.changelog.meeting).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from slackwater.spark.planner.fused.edges import Node

GATHERING = ("join", "minus", "aggregate", "distinct")
RELATIONAL = (*GATHERING, "filter", "project", "union", "placed", "ordered")
WITHIN = ("filter", "project", "aggregate", "distinct")
"""Steps of a chain that leave its instants what they are."""


def meeting(root: Node) -> Node:
    """The same operators; what is read together has the number of its meeting."""
    return _marked(root, count(1), None)


def _marked(node: Node, numbers: Iterator[int], number: int | None) -> Node:
    """`number` is that of the meeting: 0 for one of windows that all end by themselves."""
    within = node["op"] in RELATIONAL
    if number is None and node["op"] in GATHERING and _meets(sides := list(_sides(node))):
        number = next(numbers) if any(map(_counts, sides)) else 0
    below = number if within else None
    made = {**node, **{name: _marked(node[name], numbers, below) for name in _inputs(node)}}
    if within or number is None:
        return made
    made = _whole(made)
    return {**made, "meeting": number} if number else made


def _whole(side: Node) -> Node:
    """The same window, whose parts are read as one relation: an extent is no more than its parts."""
    steps = _steps(side)
    if (place := _last(steps)) is None:
        return side
    made = [*steps[:place], _unparted(steps[place]), *steps[place + 1 :]]
    return {**side, "steps": made} if side["op"] == "pipe" else {**side, "chain": {**side["chain"], "steps": made}}


def _steps(side: Node) -> list[dict[str, Any]]:
    """The steps of a chain or a pipe."""
    found: list[dict[str, Any]] = side.get("steps", side.get("chain", {}).get("steps", []))
    return found


def _unparted(step: dict[str, Any]) -> dict[str, Any]:
    if step["op"] != "window" or not step.get("by"):
        return step
    return {**step, "by": [], "count_by": []} if "time" in step["range"] else {**step, "whole": True}


def _inputs(node: Node) -> list[str]:
    return [name for name in ("left", "right", "child") if name in node]


def _sides(node: Node) -> Iterator[Node]:
    """What an operator gathers."""
    if node["op"] in RELATIONAL:
        for name in _inputs(node):
            yield from _sides(node[name])
    else:
        yield node


def _meets(sides: list[Node]) -> bool:
    """Whether several sides have their answers at boundaries."""
    slides = [side["slide"] if side["op"] == "read" else side.get("lifetime") for side in sides]
    return len(sides) > 1 and None not in slides


def _counts(side: Node) -> bool:
    """Whether a side is the last n rows of a stream, read at boundaries."""
    steps = _steps(side)
    place = _last(steps)
    return place is not None and steps[place]["op"] == "window" and "tuples" in steps[place]["range"]


def _last(steps: list[dict[str, Any]]) -> int | None:
    """The last step of a chain that says when it is evaluated."""
    return next((place for place in reversed(range(len(steps))) if steps[place]["op"] not in WITHIN), None)
