"""Functions of plans that are asked for again and again: a plan is a tree, and its hash goes through all of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar

T = TypeVar("T")
KEPT = 4096


def remembered(function: Callable[[Any], T]) -> Callable[[Any], T]:
    """The function with its answers kept: found by the plan itself where it is the same object, else by its value."""
    by_value = lru_cache(maxsize=KEPT)(function)
    by_identity: dict[int, tuple[Any, T]] = {}

    @wraps(function)
    def answered(plan: Any) -> T:
        found = by_identity.get(id(plan))
        if found is not None and found[0] is plan:
            return found[1]
        if len(by_identity) >= KEPT:
            by_identity.clear()
        answer = by_value(plan)
        # The plan is kept with its answer, so that no other can be given its identity.
        by_identity[id(plan)] = plan, answer
        return answer

    return answered
