"""Replay a changelog: the table at a point in time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from slackwater.semantics.rows import Change, Value


def table_at(changes: Iterable[Change], time: int) -> list[Mapping[str, Value]]:
    """Return the rows that live at a point in time, in the order in which they began.

    >>> log = [Change("insert", {"v": 1}, 0, 9, 0, 1), Change("delete", {"v": 1}, 4, 4, 0, 1)]
    >>> table_at(log, 3), table_at(log, 4)
    ([{'v': 1}], [])
    """
    come = [change for change in changes if change.valid_from <= time]
    ended = {change.number for change in come if change.type == "delete"}
    return [each.row for each in come if each.type == "insert" and each.number not in ended and alive(each, time)]


def alive(change: Change, time: int) -> bool:
    """Return whether the bound of a positive tuple has not passed."""
    return change.valid_to is None or change.valid_to > time
