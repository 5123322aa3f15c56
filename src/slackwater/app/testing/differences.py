"""Rows that a case expects and an engine did not find, and the other way round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from slackwater.app.testing.answers import EngineAnswers
from slackwater.app.testing.case import Line, QueryCase
from slackwater.app.testing.cells import matches


@dataclass(frozen=True, slots=True)
class Pair:
    """An expected row and the row found in its place. One of them may be None."""

    expected: Line | None
    found: Line | None

    @property
    def equal(self) -> bool:
        return self.expected is not None and self.found is not None and same(self.expected, self.found)


@dataclass(frozen=True, slots=True)
class Difference:
    """A table that is not as expected: its columns, its rows side by side, and whether only their order differs."""

    table: str
    columns: tuple[str, ...]
    pairs: tuple[Pair, ...]
    reordered: bool = False


def differences(case: QueryCase, found: EngineAnswers) -> list[Difference]:
    """Return the tables of a case that are not as expected. A table that a case does not show must be empty."""
    names = [*case.expected, *(name for name in found.tables if name not in case.expected)]
    compared = (_difference(case, found, name) for name in names if name not in found.unknown)
    return [each for each in compared if each is not None]


def _difference(case: QueryCase, found: EngineAnswers, name: str) -> Difference | None:
    shown = case.expected.get(name)
    all_columns = shown.columns if shown else tuple(case.outputs[name])
    columns = tuple(each for each in all_columns if (name, each) not in found.hidden)
    expected = _narrowed(shown.lines if shown else (), columns)
    rows = _narrowed(found.tables.get(name, ()), columns)
    matched = _matched(expected, rows)
    if not found.ordered:
        rows = matched
    if len(expected) == len(rows) and all(map(same, expected, rows)):
        return None
    reordered = len(expected) == len(rows) and all(map(same, expected, matched))
    return Difference(name, columns, tuple(_pairs(expected, rows)), reordered)


def _narrowed(lines: Iterable[Line], columns: Iterable[str]) -> list[Line]:
    return [(batch, {each: row.get(each) for each in columns}) for batch, row in lines]


def same(expected: Line, found: Line) -> bool:
    """Return whether two rows are equal, their batches included."""
    return expected[0] == found[0] and _same_values(expected[1], found[1])


def _same_values(expected: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    return all(matches(value, found[name]) for name, value in expected.items())


def _matched(expected: Sequence[Line], found: Iterable[Line]) -> list[Line]:
    """Return the found rows in the order of the expected rows that they equal; others come last in their batch."""
    left = list(found)
    placed: list[tuple[int, int, Line]] = []
    for place, line in enumerate(expected):
        at = next((number for number, each in enumerate(left) if same(line, each)), None)
        if at is not None:
            each = left.pop(at)
            placed.append((each[0], place, each))
    placed += [(each[0], len(expected) + place, each) for place, each in enumerate(left)]
    return [line for _, _, line in sorted(placed, key=lambda each: each[:2])]


def _pairs(expected: Sequence[Line], found: Sequence[Line]) -> Iterable[Pair]:
    """Return the rows side by side, with equal rows aligned."""
    keys = _keys(expected, found)
    matcher = SequenceMatcher(None, *keys, autojunk=False)
    for kind, start, end, first, last in matcher.get_opcodes():
        left, right = list(expected[start:end]), list(found[first:last])
        if kind == "replace":
            yield from _side_by_side(left, right)
        else:
            longest = max(len(left), len(right))
            nothing: list[Line | None] = [None] * longest
            yield from map(Pair, (*left, *nothing[len(left) :]), (*right, *nothing[len(right) :]))


def _keys(expected: Sequence[Line], found: Sequence[Line]) -> tuple[list[int], list[int]]:
    """Return a number for each row, the same for equal rows."""
    left = list(range(len(expected)))
    for place, line in enumerate(expected):
        left[place] = next(number for number, other in enumerate(expected) if other == line)
    right = []
    for place, line in enumerate(found):
        known = (left[number] for number, other in enumerate(expected) if same(other, line))
        right.append(next(known, -1 - place))
    return left, right


def _side_by_side(left: list[Line], right: list[Line]) -> Iterable[Pair]:
    """Pair each differing row with the most similar one, so that the differing cells can be shown."""
    for line in left:
        best = max(right, key=lambda each: _alike(line, each), default=None)
        if best is not None and _alike(line, best) > 0:
            while right[0] is not best:
                yield Pair(None, right.pop(0))
            yield Pair(line, right.pop(0))
        else:
            yield Pair(line, None)
    yield from (Pair(None, each) for each in right)


def _alike(one: Line, two: Line) -> float:
    """Return how many cells two rows have in common; 0 if fewer than half."""
    equal = [one[0] == two[0], *(matches(value, two[1][name]) for name, value in one[1].items())]
    return sum(equal) if sum(equal) * 2 >= len(equal) else 0
