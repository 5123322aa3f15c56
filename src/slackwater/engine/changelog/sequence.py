"""Rows of several streams in the order of the language: time, arrival, which input, and the place in it.

A row that has its place has an identity of three numbers: its time, its arrival (none before any) and its number in its
stream. What one row is made into keeps it, a pair has those of its rows, and a union says from which side each came:
all that tells the order is at hand wherever tuples meet, and what was put in order is numbered anew.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from slackwater.engine.changelog.log import Log, Tuples, arranged, of_tuples
from slackwater.engine.columns.arrays import EARLIEST, Ints, ints, valid
from slackwater.engine.columns.keys import normal, ranked
from slackwater.engine.columns.state import Memory

PLACE = 3
"""How many numbers a place is."""


def placed(log: Log, arrival: str | None) -> Log:
    """The rows of a stream with their places."""
    return replace(log, born=_placed(log.born, arrival), ended=_placed(log.ended, arrival))


def _placed(tuples: Tuples, arrival: str | None) -> Tuples:
    came = np.full(len(tuples), EARLIEST)
    if arrival is not None:
        column: pa.Array = tuples.rows.column(arrival)
        came[valid(column)] = ints(column.drop_null())
    return replace(tuples, ids=(tuples.start, came, tuples.ids[-1]))


class Ordered:
    """What begins, as a stream in its order, `by` which: of a `union`, of pairs that a `row` makes, of a `whole` join.

    A row makes pairs with all that came before it, which are in the order of the left rows, then of the right ones; at
    a boundary all pairs are made at once. Groups, and what DISTINCT and EXCEPT leave, come at boundaries too: in the
    order of their `columns`. The rows of a `moment` that may still change have it too, and stay what they are.
    """

    def __init__(self, name: str, by: str) -> None:
        self.name, self.by = name, by

    def step(self, memory: Memory, log: Log) -> Log:
        if self.by == "moment":
            return arranged(log, np.lexsort((by_columns(log.born), log.born.start)))
        born = log.born
        arrival, keys = self._keys(born)
        order = np.lexsort((*reversed(keys), born.start))
        first = memory.number(self.name)
        memory.put(self.name, first + len(born))
        born = born.at(order)
        ids = (born.start, arrival[order], np.arange(first, first + len(born)))
        return of_tuples(replace(born, ids=ids))

    def _keys(self, rows: Tuples) -> tuple[Ints, list[Ints]]:
        """The arrival of each, and what orders those of one time."""
        if self.by == "union":
            side, _, arrival, number = rows.ids
            return arrival, [arrival, side, number]
        none = np.full(len(rows), EARLIEST)
        if self.by == "columns":
            return none, [by_columns(rows)]
        numbers = list(rows.ids[2::PLACE])
        if self.by == "whole":
            return none, numbers
        time, arrival, number = rows.ids[:PLACE]
        leaf = np.zeros(len(rows), np.int64)
        for place in range(1, len(numbers)):
            others = rows.ids[place * PLACE : (place + 1) * PLACE]
            later = (others[0] > time) | ((others[0] == time) & (others[1] >= arrival))
            leaf = np.where(later, place, leaf)
            pairs = zip(others, (time, arrival, number), strict=True)
            time, arrival, number = (np.where(later, new, old) for new, old in pairs)
        return arrival, [arrival, leaf, number, *numbers]


def by_columns(rows: Tuples) -> Ints:
    """The place of each in the order of the columns, NULL first."""
    return ranked([normal(each) for each in rows.rows.columns])
