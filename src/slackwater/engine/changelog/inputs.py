"""The inputs of a tree: rows wait for the punctuation, then leave in order as tuples with a lifetime.

A row of a stream lives for ever. A row of an incoming changelog carries a change type (docs/design/algebra.md): an
insert of a live key is refused, `update_postimage` replaces a key, a delete of a key that does not live changes
nothing. Event time decides: a delete that comes late, but before its place is gone, ends the tuple that lived at its
own time and nothing newer. A delete that comes after its place is gone is lost, and is among the late rows. All changes
of a key at one point in time are one change. A column `_valid_to`, as EMIT CHANGES writes it, is the bound of its row:
the key does not live beyond it.

The rows of several streams are ordered by time, arrival, input, and place in the input. The identity
of a placed row is three numbers: its time, its arrival (rows without one first) and its number in its stream. A
projected row keeps this identity, a pair has those of its rows, and a union adds the number of the side. So an operator
that combines tuples knows their order. Ordered tuples get new numbers.

A query has one clock, that of its slowest input. A row that is sampled by time is known only when its slot has passed;
later changes of other inputs wait until all inputs have reached their time.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slackwater.engine.changelog.living import CODE, START, STRUCTURES, LivingTuples, tuples_of, with_code
from slackwater.engine.changelog.log import (
    TupleLog,
    Tuples,
    handed_log,
    in_order,
    located,
    no_tuples,
    of_tuples,
    reorder,
    together,
)
from slackwater.engine.columns.arrays import (
    EARLIEST,
    LATEST,
    NO_INTS,
    Bools,
    Index,
    Ints,
    bounds,
    column,
    counted,
    firsts,
    ints,
    picked,
    stable,
    valid,
)
from slackwater.engine.columns.keys import Codes, normal, ranked
from slackwater.engine.columns.state import Memory
from slackwater.engine.operators.hold import RowHold, enter_rows
from slackwater.engine.operators.steps import Span
from slackwater.engine.plan import Input

BEGINS = ("insert", "update_postimage")
ENDS = ("delete", "update_preimage")
BOUND = "_valid_to"


class Taken(NamedTuple):
    """The result of an input for a batch: its changelog up to the punctuation, and its refused rows.

    `upto` is the end of the changelog, if it is before the punctuation.
    """

    log: TupleLog
    refused: pa.RecordBatch
    upto: int = LATEST


class HandedReader:
    """Reads the changelog of another operator, which held its rows until the punctuation passed them."""

    def __init__(self, given: Input) -> None:
        self.ids, self.slots, self.names = given.ids, given.slots, given.names
        self.sample = handed_log(pa.RecordBatch.from_pylist([], given.schema), given.ids).born

    def step(self, memory: Memory, batch: pa.RecordBatch, span: Span) -> Taken:
        reached = [reduce(Span.slotted, way, span).now for way in self.slots]
        log = handed_log(batch.rename_columns(self.names), self.ids)
        return Taken(log, batch.slice(0, 0), min(reached, default=LATEST))


class InputReader:
    """Reads one input: holds its rows until the punctuation passes them, and applies the changes of a changelog."""

    def __init__(self, name: str, given: Input) -> None:
        self.name = name
        self.given = given
        self.hold = RowHold(f"{name}.hold", numbered=False)
        self.sample = no_tuples(given.schema, 1)
        self.incoming = None if given.change_type is None else Incoming(name, given)

    def step(self, memory: Memory, batch: pa.RecordBatch, span: Span) -> Taken:
        """Take in a batch; `span` is that of the query's clock."""
        rows, _ = self.hold.step(memory, enter_rows(memory, self.given, batch, f"{self.name}.arrived"), span)
        number = memory.next(f"{self.name}.sequence", len(rows))
        tuples = Tuples(rows.batch, rows.time, np.full(len(rows), LATEST), (number,))
        if self.incoming is None:
            return Taken(of_tuples(tuples), picked(rows.batch, slice(0, 0)))
        log, refused = self.incoming.step(memory, tuples, span)
        return Taken(log, refused)


class Incoming:
    """An incoming changelog. Kept: the live tuples, with the code of their key."""

    def __init__(self, name: str, given: Input) -> None:
        besides = (given.change_type, given.time, given.arrival, BOUND)
        self.key = given.key or tuple(column for column, _ in given.columns if column not in besides)
        self.change_type = str(given.change_type)
        kinds = {field.name: field.type for field in given.schema}
        self.bounded = BOUND in kinds
        self.codes = Codes(f"{name}.keys", [kinds[column] for column in self.key])
        self.living = LivingTuples(f"{name}.living", STRUCTURES[4])

    def step(self, memory: Memory, rows: Tuples, span: Span) -> tuple[TupleLog, pa.RecordBatch]:
        rows = self._bounded(rows)
        kind = pc.utf8_lower(rows.rows.column(self.change_type).cast(pa.string()))
        begins, ends, inserts = (_among(kind, names) for names in (BEGINS, ENDS, BEGINS[:1]))
        code = self.codes.encode(memory, [normal(rows.rows.column(name)) for name in self.key], len(rows))
        order = counted(code)
        order = order[(begins | ends)[order]]
        touched = np.zeros(self.codes.size(memory), np.bool_)
        touched[code[order]] = True
        living = self.living.step(memory, with_code(rows.at(NO_INTS), NO_INTS), (), NO_INTS, span, keep=False)
        old, old_code = tuples_of(picked(living.kept, touched[living.code])), living.code[touched[living.code]]
        until = np.full(len(touched), EARLIEST)
        until[old_code] = old.end
        lives = begins & (rows.end > rows.start)
        taken = _not_refused(code[order], until, rows.at(order), inserts[order], lives[order])
        refused = ~(begins | ends)
        refused[order[~taken]] = True
        log = self._changes(memory, rows, (old, old_code), code, order[taken], lives, span)
        return log, picked(rows.rows, refused)

    def _bounded(self, rows: Tuples) -> Tuples:
        """Return the rows with the bounds of their column `_valid_to`, if they have it."""
        if not self.bounded:
            return rows
        column = rows.rows.column(BOUND)
        end = rows.end.copy()
        end[valid(column)] = ints(column.drop_null())
        return replace(rows, end=end)

    def _changes(
        self,
        memory: Memory,
        rows: Tuples,
        before: tuple[Tuples, Ints],
        code: Ints,
        order: Index,
        lives: Bools,
        span: Span,
    ) -> TupleLog:
        """Apply the last taken row of each key and time: it ends the tuple that lived before, and may begin a new one.

        Return the changelog, and keep the tuples that live.
        """
        _, last = bounds(firsts(code[order], rows.start[order]))
        order = order[last - 1]
        old, old_code = before
        both, codes = together(old, rows.at(order)), np.concatenate([old_code, code[order]])
        begun = np.concatenate([np.ones(len(old), np.bool_), lives[order]])
        line = counted(codes)
        follows = np.append(~firsts(codes[line])[1:], False)
        gone = line[follows & begun[line]]
        at = both.start[np.append(line[1:], 0)[follows & begun[line]]] if len(line) else gone
        gone, at = gone[both.end[gone] > at], at[both.end[gone] > at]
        born = np.flatnonzero(begun[len(old) :]) + len(old)
        born = born[stable(both.ids[0][born])]  # at one time in the order of the rows
        place = np.full(len(both), -1)
        place[born] = np.arange(len(born))
        log = in_order(TupleLog(both.at(born), both.at(gone), at, place[gone]))
        members = self.living.step(memory, with_code(log.born, codes[born]), log.ended.ids, log.at, span)
        left = np.bincount(members.code[~members.leaves], minlength=self.codes.size(memory))
        self.codes.settle(memory, left)
        return log


def _not_refused(code: Ints, until: Ints, rows: Tuples, inserts: Bools, lives: Bools) -> Bools:
    """Return a mask of the rows that are not refused: all but inserts of a live key. Rows are sorted by key, then time.

    Whether the key lives depends on the last taken row before, or on the kept tuple, whose bound is in `until` by code.
    A row can be decided once the rows before it are. The loop repeats until nothing changes, which is mostly at once.
    """
    taken = np.ones(len(code), np.bool_)
    places, first = np.arange(len(code)), firsts(code)
    begin = np.maximum.accumulate(np.where(first, places, 0))
    while True:
        last = np.append(-1, np.maximum.accumulate(np.where(taken, places, -1))[:-1])[: len(code)]
        inside = last >= begin
        bound = np.where(inside, np.where(lives[last], rows.end[last], EARLIEST), until[code])
        again = ~(inserts & (bound > rows.start))
        if (again == taken).all():
            return taken
        taken = again


def _among(kind: pa.Array, names: tuple[str, ...]) -> Bools:
    found: Bools = pc.is_in(kind, pa.array(names)).to_numpy(zero_copy_only=False)
    return found


PLACE = 3
"""The number of integers in the identity of a placed row."""


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

    def step(self, memory: Memory, span: Span, log: TupleLog) -> TupleLog:
        if self.by == "moment":
            return reorder(log, np.lexsort((by_columns(log.born), log.born.start)))
        born = log.born
        arrival, keys = self._keys(born)
        order = np.lexsort((*reversed(keys), born.start))
        born = born.at(order)
        return of_tuples(replace(born, ids=(born.start, arrival[order], memory.next(self.name, len(born)))))

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


class Waiting:
    """The waiting changes of an input: begun tuples by their start, ended tuples by their end (as their code)."""

    def __init__(self, name: str) -> None:
        self.name = name

    def step(self, memory: Memory, log: TupleLog, upto: int) -> TupleLog:
        """Add changes, and return those before a time."""
        born = self._due(memory, f"{self.name}.born", START, with_code(log.born, log.born.start), upto)
        ended = self._due(memory, f"{self.name}.ended", CODE, with_code(log.ended, log.at), upto)
        begun = log.born.at(NO_INTS) if born is None else tuples_of(born)
        return of_tuples(begun) if ended is None else located(begun, tuples_of(ended), column(ended, CODE))

    def _due(self, memory: Memory, name: str, clock: str, new: pa.RecordBatch, upto: int) -> pa.RecordBatch | None:
        due, store = memory.store(name, clock).add(new).due(upto - 1 if upto > EARLIEST else EARLIEST)
        memory.put_store(name, store)
        return due


class ReadAt:
    """Answers that wait for the boundary at which they are read. Their time becomes the boundary minus one tick."""

    def __init__(self, name: str, slide: int) -> None:
        self.waiting = Waiting(f"{name}.waiting")
        self.slide = slide

    def step(self, memory: Memory, span: Span, log: TupleLog) -> TupleLog:
        start = (log.born.start // self.slide + 1) * self.slide - 1
        read = replace(log.born, start=start, end=start + self.slide)
        return self.waiting.step(memory, of_tuples(read), span.now)
