"""The live tuples of one edge: the codes of their keys, and the structure that the class of the edge needs.

`STRUCTURES` is the table of structures by class. All of them keep segments sorted by bound: a list never drops tuples,
a queue drops them at its front, an expiry order anywhere. A tuple that a negative tuple ends is found by its identity.
If its segment is still needed, the identity is remembered as dead; a segment is rewritten when half of its tuples are
not needed.

A key keeps its code as long as a tuple with the key lives; then the code may be reused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from slackwater.engine.changelog.log import Tuples, locate
from slackwater.engine.columns.arrays import EARLIEST, Bools, Ints, column, picked, table
from slackwater.engine.columns.state import Memory, OpenStore, Store, aligned
from slackwater.engine.operators.steps import Span


@dataclass(frozen=True, slots=True)
class Structure:
    """How the live tuples of an edge are kept.

    `expires`: tuples leave at their bound. `ordered`: they leave in the order in which they began, from the front.
    `indexed`: a negative tuple may end a tuple, which is found by its identity.
    """

    name: str
    expires: bool
    ordered: bool
    indexed: bool


STRUCTURES = {
    1: Structure("list", expires=False, ordered=True, indexed=False),
    2: Structure("queue", expires=True, ordered=True, indexed=False),
    3: Structure("expiry order", expires=True, ordered=False, indexed=False),
    4: Structure("expiry order and key index", expires=True, ordered=False, indexed=True),
}


CODE, START, END = "code", "start", "end"
ID, COLUMN = "id:", "column:"


def with_code(tuples: Tuples, code: Ints) -> pa.RecordBatch:
    """Return tuples as one record batch with the code of their key, for the state."""
    columns = {CODE: code, START: tuples.start, END: tuples.end}
    ids = {f"{ID}{place}": each for place, each in enumerate(tuples.ids)}
    payload = {f"{COLUMN}{name}": tuples.rows.column(name) for name in tuples.rows.schema.names}
    return table({**columns, **ids, **payload})


def tuples_of(kept: pa.RecordBatch) -> Tuples:
    """Return the tuples that `with_code` packed."""
    payload = {
        name.removeprefix(COLUMN): column
        for name, column in zip(kept.schema.names, kept.columns, strict=True)
        if name.startswith(COLUMN)
    }
    return Tuples(table(payload), column(kept, START), column(kept, END), ids_of(kept))


def ids_of(kept: pa.RecordBatch) -> tuple[Ints, ...]:
    return tuple(column(kept, name) for name in kept.schema.names if name.startswith(ID))


@dataclass(frozen=True, slots=True)
class Members:
    """Old tuples, then new ones. `until` is the actual end of each: its bound, or earlier if a negative `ended` it."""

    kept: pa.RecordBatch
    old: int
    until: Ints
    ended: Bools
    now: int
    store: OpenStore | None = None

    def __len__(self) -> int:
        return len(self.until)

    @property
    def code(self) -> Ints:
        return column(self.kept, CODE)

    @property
    def end(self) -> Ints:
        return column(self.kept, END)

    @property
    def leaves(self) -> Bools:
        """Return a mask of the tuples that end in this step."""
        gone: Bools = self.until < self.now
        return gone

    def column(self, name: str) -> pa.Array:
        return self.kept.column(f"{COLUMN}{name}")


class LivingTuples:
    """The live tuples of one edge, under a name in the state."""

    def __init__(self, name: str, structure: Structure) -> None:
        self.name = name
        self.structure = structure

    def step(
        self, memory: Memory, new: pa.RecordBatch, ended: tuple[Ints, ...], at: Ints, span: Span, keep: bool = True
    ) -> Members:
        """Return all tuples that live at some time of the span, and keep those that live on unless `keep` is false."""
        opened = OpenStore(memory.store(self.name, END), lambda every: self._lives(memory, every, span))
        kept = aligned([each for each in opened.with_new(new) if each.num_rows] or [new])
        members = self._members(kept, kept.num_rows - new.num_rows, ended, at, span)
        members = replace(members, store=opened)
        if keep:
            self.keep(memory, members, ~members.leaves)
        return members

    def keep(self, memory: Memory, members: Members, stays: Bools) -> None:
        """Keep the members for which `stays` is true. They are those that `step` returned."""
        assert members.store is not None  # noqa: S101
        store = members.store.keep(stays)
        if self.structure.indexed and members.store.old is not None:
            self._remember(memory, store, picked(members.store.old, ~stays[: members.old]))
        memory.put_store(self.name, store.add(picked(members.kept.slice(members.old), stays[members.old :])))

    def due(self, memory: Memory, new: pa.RecordBatch, codes: int, span: Span) -> Members:
        """Return the members of a queue that matter: those that leave, new ones, and the next to leave of each code."""
        upto = span.now - 1 if span.now > EARLIEST else EARLIEST
        gone, store = memory.store(self.name, END).due(upto)
        ahead = store.next_of_each(CODE, np.ones(codes, np.bool_))
        pieces = [piece for piece in (gone, ahead) if piece is not None]
        kept = aligned([*pieces, new])
        until = column(kept, END)
        members = Members(kept, kept.num_rows - new.num_rows, until, np.zeros(len(until), np.bool_), span.now)
        memory.put_store(self.name, store.add(picked(new, column(new, END) >= span.now)))
        return members

    def _lives(self, memory: Memory, every: pa.RecordBatch, span: Span) -> Bools:
        """Return a mask of the rows that have not left."""
        there: Bools = column(every, END) >= span.before
        dead = self._dead(memory)
        if dead and len(dead[0]):
            place = locate(ids_of(every), dead)
            there[place[place >= 0]] = False
        return there

    def _members(self, kept: pa.RecordBatch, old: int, ended: tuple[Ints, ...], at: Ints, span: Span) -> Members:
        until, negated = column(kept, END), np.zeros(kept.num_rows, np.bool_)
        if self.structure.indexed and len(at):
            place = locate(ids_of(kept), ended)
            until = until.copy()
            until[place] = np.minimum(until[place], at)
            negated[place] = True
        return Members(kept, old, until, negated, span.now)

    def _dead(self, memory: Memory) -> tuple[Ints, ...]:
        names = memory.names(f"{self.name}.dead.")
        return tuple(memory.ints(name) for name in sorted(names))

    def _remember(self, memory: Memory, store: Store, gone: pa.RecordBatch) -> None:
        """Remember the identities of ended tuples that are still in a segment."""
        before = self._dead(memory)
        ids = ids_of(gone)
        if before:
            ids = tuple(np.concatenate(each) for each in zip(before, ids, strict=True))
        left = store.all()
        still = np.zeros(len(ids[0]), np.bool_)
        if left is not None and len(still):
            still = locate(ids_of(left), ids) >= 0
        for place, each in enumerate(ids):
            memory.put(f"{self.name}.dead.{place}", each[still] if still.any() else None)
