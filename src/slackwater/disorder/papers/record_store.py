"""The record store of WIN (section 3, figures 2 and 3): rows by time slot under a two-level index.

Rows are placed by arithmetic: a row's slot is its event time divided by the granularity, 128 slots make a p-node, and
the i-node finds a p-node by its number. A batch is placed at once. Rows are sorted when they are released, by a radix
sort of their times.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from slackwater.disorder.clock import EARLIEST, LATEST, Times
from slackwater.disorder.papers.inode import INode, PNode, RowColumns, joined
from slackwater.engine.columns.arrays import counted
from slackwater.errors import InputError

SLOTS = 128
"""Slots of a p-node (WIN section 3)."""
REACH = 1 << 16
"""The most p-nodes that the i-node covers, which bounds its array."""


class RecordStore:
    """The rows that wait for the punctuation.

    ``granularity`` is the width of a slot in ticks. P-nodes of 128 slots are created and dropped as a whole, so choose
    a width at which a p-node holds a good part of a batch. The i-node covers at most 65,536 p-nodes. A row outside of
    that range (a timestamp of the year 9999) waits in an overflow until the punctuation comes near.

    >>> store = RecordStore(granularity=10)
    >>> bool(store.place(np.array([25, 7, 25, 12]), np.array([30, 31, 32, 33])).any())
    False
    >>> released = store.release(20)
    >>> released.event.tolist(), released.row.tolist(), len(store)
    ([7, 12], [1, 3], 2)
    """

    __slots__ = ("_count", "_inode", "_low", "_nearest", "_overflow", "_placed", "_span", "_type", "released")

    def __init__(self, granularity: int = 1) -> None:
        if not 1 <= granularity <= LATEST // (SLOTS * REACH):
            raise InputError("SW-428", f"slots of {granularity} ticks", expected="a positive number of ticks")
        self._span = granularity * SLOTS
        self._inode = INode()
        self._low: int | None = None
        self._overflow: PNode = []
        self._nearest = LATEST  # the least p-node number of the overflow
        self._count = self._placed = 0
        self._type: np.dtype[Any] = np.dtype(np.int64)
        self.released = EARLIEST

    def __len__(self) -> int:
        return self._count

    @property
    def inode_size(self) -> int:
        return self._inode.size

    def place(self, event: Times, arrival: Times, row: npt.NDArray[Any] | None = None) -> npt.NDArray[np.bool_]:
        """Place a batch in arrival order; return a mask of the rows that are lost because their slot was released.

        Without ``row``, rows are numbered from 0 over all batches.
        """
        if row is None:
            row = np.arange(self._placed, self._placed + len(event), dtype=np.int64)
        self._placed += len(event)
        self._type = row.dtype
        lost: npt.NDArray[np.bool_] = event < self.released
        rows = RowColumns(event, arrival, row).at(~lost)
        self._count += rows.size
        self._put(rows)
        return lost

    def release(self, punctuation: int) -> RowColumns:
        """Remove and return the rows before the punctuation, by (event, arrival, position).

        Whole p-nodes are dropped.
        """
        if punctuation <= self.released:
            return joined([], self._type)
        self.released = punctuation
        self._low = punctuation // self._span
        leaving = [piece for pnode in self._inode.drop(self._low) for piece in pnode]
        out_of_reach = self._inode.last >= self._low + REACH  # the very first rows were stamped far in the future
        up_to = self._inode.last if out_of_reach else self._low
        beside = [piece for pnode in self._inode.drop(up_to + 1) for piece in pnode] + self._near_overflow(self._low)
        if beside:
            rows = joined(beside, self._type)
            before = rows.event < punctuation
            leaving.append(rows.at(before))
            self._put(rows.at(~before))
        out = in_order(joined(leaving, self._type))
        self._count -= out.size
        return out

    def beyond(self, most: int) -> int:
        """Return the smallest punctuation that leaves at most ``most`` rows held (BSIZE).

        If all rows may stay, that is the earliest time.
        """
        surplus = self._count - most
        if surplus <= 0:
            return EARLIEST
        oldest, near = [piece.event for piece in self._overflow], 0
        for pnode in self._inode.pnodes():
            oldest += [piece.event for piece in pnode]
            near += sum(piece.size for piece in pnode)
            if near >= surplus:
                break
        return min(LATEST, int(np.partition(np.concatenate(oldest), surplus - 1)[surplus - 1]) + 1)

    def _put(self, rows: RowColumns) -> None:
        """Find the p-node of each row by division (figure 3, step 1). Rows out of reach go to the overflow."""
        if not rows.size:
            return
        number = rows.event // self._span
        if self._low is None:
            self._low = int(np.median(number)) - REACH // 2
        near = (number >= self._low) & (number < self._low + REACH)
        if not near.all():
            self._overflow.append(rows.at(~near))
            self._nearest = min(self._nearest, int(number[~near].min()))
            rows, number = rows.at(near), number[near]
        if rows.size:
            self._inode.cover(int(number.min()), int(number.max()))
            self._append(rows, number)

    def _near_overflow(self, low: int) -> PNode:
        """Return the overflow if the i-node now reaches any of its rows."""
        if self._nearest >= low + REACH:
            return []
        overflow, self._overflow, self._nearest = self._overflow, [], LATEST
        return overflow

    def _append(self, rows: RowColumns, number: Times) -> None:
        """Append a piece of the batch to each p-node (figure 3, steps 3 and 4)."""
        order = counted(number - number.min())
        rows, number = rows.at(order), number[order]
        bounds = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), rows.size]
        for start, stop in pairwise(bounds):
            piece = rows.at(slice(start, stop))
            self._inode.append(int(number[start]), piece if 8 * piece.size >= rows.size else piece.own())


def in_order(rows: RowColumns) -> RowColumns:
    """Return the rows sorted by (event, arrival, position).

    Equal event times are in order of placement, which is the order of their arrivals unless the arrival clock stepped
    back.
    """
    if rows.size < 2:
        return rows
    least, most = int(rows.event.min()), int(rows.event.max())
    if most - least <= LATEST:
        ordered = rows.at(counted(rows.event - least))
        tied = ordered.event[1:] == ordered.event[:-1]
        if (ordered.arrival[1:] >= ordered.arrival[:-1])[tied].all():
            return ordered
    return rows.at(np.lexsort((rows.arrival, rows.event)))
