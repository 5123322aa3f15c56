"""The monotonicity class of an operator's result (APAS section 2.2): how its rows expire.

The class decides what state the parent operator needs: none, a queue, an expiry order, or an index on the key.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

from slackwater.algebra.nodes import (
    Aggregate,
    Distinct,
    Frequency,
    Join,
    Minus,
    Plan,
    Scan,
    Subquery,
    Union,
    View,
    Window,
    inputs,
)
from slackwater.algebra.properties.instants import instants_of


class Class(IntEnum):
    MONOTONIC = 1
    """Rows never expire."""
    WEAKEST = 2
    """Lifetimes are constant: rows expire in the order in which they came."""
    WEAK = 3
    """Lifetimes vary, but are known when a row begins."""
    STRICT = 4
    """A later input may end a row."""

    @property
    def structure(self) -> str:
        """Return the name of the simplest data structure that can keep rows of this class."""
        return {1: "none", 2: "queue", 3: "expiry order", 4: "expiry order and key index"}[self]


@lru_cache(maxsize=4096)
def class_of(plan: Plan) -> Class:
    """Return the class of a result read as a changelog.

    A relation at boundaries of SLIDE s lives from one boundary to the next, whatever operator computed it: class 2.
    """
    if not isinstance(plan, (Scan, Subquery, View)) and instants_of(plan).at_boundaries:
        return Class.WEAKEST
    match plan:
        case Scan(change_type=change_type):
            return Class.STRICT if change_type else Class.MONOTONIC
        case Window(child=child):
            return _window(plan, child)
        case Frequency(child=Window()):
            return Class.STRICT
        case Aggregate() | Minus():
            return Class.STRICT
        case Distinct(child=child):
            return {Class.WEAKEST: Class.WEAK}.get(class_of(child), class_of(child))
        case Join(left=left, right=right):
            return _both(class_of(left), class_of(right), equal=False)
        case Union(left=left, right=right):
            same = instants_of(left).window == instants_of(right).window
            return _both(class_of(left), class_of(right), equal=same)
        case _:
            return class_of(inputs(plan)[0])


def _window(plan: Window, child: Plan) -> Class:
    """Return the class of a window. A time range ends by itself; a tuple range or a jump ends after enough rows."""
    if class_of(child) is Class.STRICT and not isinstance(child, (Subquery, View)):
        return Class.STRICT
    return Class.WEAKEST if plan.range.is_time and instants_of(plan).at_rows else Class.STRICT


def _both(left: Class, right: Class, *, equal: bool) -> Class:
    """Return the class of two combined inputs: their own if both never expire or expire alike, else STRICT or WEAK."""
    if Class.STRICT in (left, right):
        return Class.STRICT
    if left == right and (left is Class.MONOTONIC or (equal and left is Class.WEAKEST)):
        return left
    return Class.WEAK
