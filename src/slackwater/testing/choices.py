"""The source of random choices for plans and streams: hypothesis, which shrinks, or a seed, which is quick.

Hypothesis reduces a failure to a small case. Thousands of cases are better drawn from seeds; a seed that failed can be
kept in a test.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Choices(Protocol):
    """The kinds of choice that a generator needs."""

    def one_of(self, options: Sequence[T]) -> T:
        """Return one of the options. Hypothesis shrinks towards the first."""

    def between(self, least: int, most: int) -> int:
        """Return a whole number, both ends included."""

    def octets(self, count: int) -> bytes:
        """Return `count` bytes."""


class Drawn:
    """Choices made by hypothesis."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def one_of(self, options: Sequence[T]) -> T:
        return self.draw(st.sampled_from(options))

    def between(self, least: int, most: int) -> int:
        return self.draw(st.integers(least, most))

    def octets(self, count: int) -> bytes:
        return self.draw(st.binary(min_size=count, max_size=count))


class Seeded:
    """Choices that follow from a seed.

    >>> Seeded(7).between(1, 6) == Seeded(7).between(1, 6)
    True
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 (tests, not secrets)

    def one_of(self, options: Sequence[T]) -> T:
        return self.random.choice(options)

    def between(self, least: int, most: int) -> int:
        return self.random.randint(least, most)

    def octets(self, count: int) -> bytes:
        return self.random.randbytes(count)


def one_in(choices: Choices, count: int) -> bool:
    """Return True once in `count` times; shrinks to False."""
    return choices.one_of([False] * (count - 1) + [True])


def some(choices: Choices, options: Sequence[T], least: int, most: int) -> list[T]:
    """Return some of the options, each at most once, in any order."""
    left = list(options)
    chosen: list[T] = []
    for _ in range(choices.between(least, min(most, len(left)))):
        chosen.append(left.pop(choices.between(0, len(left) - 1)))
    return chosen
