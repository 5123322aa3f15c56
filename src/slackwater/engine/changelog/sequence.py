"""The order of the rows of several streams: time, arrival, input, and place in the input (language.md).

The identity of a placed row is three numbers: its time, its arrival (rows without one first) and its number in its
stream. A projected row keeps this identity, a pair has those of its rows, and a union adds the number of the side. So
an operator that combines tuples has everything that tells their order. Ordered tuples are numbered anew.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from slackwater.engine.changelog.log import TupleLog, Tuples, arranged, of_tuples
from slackwater.engine.columns.arrays import EARLIEST, Ints, ints, valid
from slackwater.engine.columns.keys import normal, ranked
from slackwater.engine.columns.state import Memory

PLACE = 3
"""The count of numbers in a place."""


def placed(log: TupleLog, arrival: str | None) -> TupleLog:
    """Return the rows of a stream with their places as identities."""
    return replace(log, born=_placed(log.born, arrival), ended=_placed(log.ended, arrival))


def _placed(tuples: Tuples, arrival: str | None) -> Tuples:
    came = np.full(len(tuples), EARLIEST)
    if arrival is not None:
        column: pa.Array = tuples.rows.column(arrival)
        came[valid(column)] = ints(column.drop_null())
    return replace(tuples, ids=(tuples.start, came, tuples.ids[-1]))


class OrderedStream:
    """Turns the tuples that begin into a stream in sequence order. `by` says which order.

    - `union`: arrival, then side.
    - `row`: the pairs of a join, by the later row of each pair, then by the left rows, then by the right ones.
    - `whole`: the pairs of a join at a boundary, by the left rows, then by the right ones.
    - `columns`: groups and the results of DISTINCT and EXCEPT, by the values of their columns.
    - `moment`: as `columns`, but tuples keep their identities, because they may still end.
    """

    def __init__(self, name: str, by: str) -> None:
        self.name, self.by = name, by

    def step(self, memory: Memory, log: TupleLog) -> TupleLog:
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
        """Return the arrivals, and the keys that order tuples of equal time."""
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
    """Return the rank of each tuple in the order of the columns, NULL first."""
    return ranked([normal(each) for each in rows.rows.columns])
