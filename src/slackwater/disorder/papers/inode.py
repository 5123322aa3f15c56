"""The upper level of the record store's index (WIN section 3): an array of p-nodes that grows and shrinks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from slackwater.disorder.clock import Times

LEAST = 8
"""The smallest size of the array, in p-nodes."""


class RowColumns(NamedTuple):
    """Rows as columns: event time, arrival time, and the row itself (an array of any type)."""

    event: Times
    arrival: Times
    row: npt.NDArray[Any]

    @property
    def size(self) -> int:
        return len(self.event)

    def at(self, index: npt.NDArray[Any] | slice) -> RowColumns:
        return RowColumns(self.event[index], self.arrival[index], self.row[index])

    def own(self) -> RowColumns:
        """Return a copy, so that the batch that holds these rows can be freed."""
        return RowColumns(self.event.copy(), self.arrival.copy(), self.row.copy())


PNode = list[RowColumns]
"""The rows of a p-node's slots in the order in which they were placed, one piece per batch."""


def joined(pieces: list[RowColumns], like: np.dtype[Any]) -> RowColumns:
    if not pieces:
        return RowColumns(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, like))
    return RowColumns(*(np.concatenate(column) for column in zip(*pieces, strict=True)))


class INode:
    """P-nodes by number. ``first`` to ``last`` are covered; the rest of the array is spare room.

    >>> inode = INode()
    >>> inode.cover(5, 6), inode.size
    (None, 8)
    >>> inode.cover(3, 20), inode.size
    (None, 32)
    """

    __slots__ = ("_nodes", "first", "last")

    def __init__(self) -> None:
        self._nodes: list[PNode | None] = [None] * LEAST
        self.first, self.last = 0, -1

    @property
    def size(self) -> int:
        return len(self._nodes)

    def cover(self, least: int, most: int) -> None:
        """Make room for these numbers. The array is copied if it has to move or to double."""
        if self.last < self.first:
            self.first, self.last = least, most
            self._resize(least)
            return
        self.last = max(self.last, most)
        if least < self.first or self.last - self.first >= self.size:
            self._resize(min(least, self.first))

    def append(self, number: int, piece: RowColumns) -> None:
        pnode = self._nodes[number - self.first]
        if pnode is None:
            self._nodes[number - self.first] = [piece]
        else:
            pnode.append(piece)

    def pnodes(self) -> list[PNode]:
        """Return the p-nodes that have rows, oldest first."""
        return [pnode for pnode in self._nodes if pnode is not None]

    def drop(self, before: int) -> list[PNode]:
        """Remove every p-node with a smaller number and return them, oldest first. Shrink the array to the rest."""
        count = min(max(0, before - self.first), self.size)
        gone = self._nodes[:count]
        self._nodes[:count] = [None] * count
        if count:
            self._resize(self.first + count)
        return [pnode for pnode in gone if pnode is not None]

    def _resize(self, first: int) -> None:
        """Move the array to start at ``first``. Its size is a power of two, at least 8.

        It doubles when full and halves when a quarter is used.
        """
        self.last = max(self.last, first - 1)
        need = self.last - first + 1
        size = self.size
        while size < need:
            size *= 2
        while size > LEAST and 4 * need <= size:
            size //= 2
        offset = max(0, self.first - first)
        moved: list[PNode | None] = [None] * size
        kept = self._nodes[max(0, first - self.first) :][: need - offset]
        moved[offset : offset + len(kept)] = kept
        self._nodes = moved
        self.first = first
