"""A cache for functions of plans. Hashing a plan visits the whole tree, so the cache looks up identity first."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar

T = TypeVar("T")
KEPT = 4096
"""Cached plans per function. A larger value needs more memory and saves repeated derivations."""


def cache_by_plan(function: Callable[[Any], T]) -> Callable[[Any], T]:
    """Return the function with a cache, looked up by the plan's identity first and by its value second."""
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
        # Keeping the plan alive with its answer prevents another plan from getting the same id.
        by_identity[id(plan)] = plan, answer
        return answer

    return answered
