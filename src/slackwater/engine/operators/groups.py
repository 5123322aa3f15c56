"""GROUP BY over a window: its calls in the structures that compute them, its groups and their codes, and result rows.

In a partitioned window, the key of a group is the partition columns and the GROUP BY items. An item that depends on the
instant alone (`window_end`) is the same for all rows of the instant, and is no part of the key.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import EARLIEST, Bools, Ints, known_type, table
from slackwater.engine.columns.keys import Codes, normal
from slackwater.engine.columns.rows import ORDER, Rows, ordering
from slackwater.engine.columns.state import Memory
from slackwater.engine.expressions import columns_of, evaluate, marks_of
from slackwater.engine.numbers.tally import Tally
from slackwater.engine.operators.calls import Calls, DistinctValues, EndValue, ExtremeValue, Found, ValueSource
from slackwater.engine.operators.distinct import DistinctCounts
from slackwater.engine.operators.ends import Ends
from slackwater.engine.operators.entries import ARRIVAL, POSITION, TIME, ExitClock, Merge, Points
from slackwater.engine.operators.extremes import Extremes
from slackwater.engine.operators.steps import Below, below
from slackwater.engine.operators.sums import WindowSums
from slackwater.engine.plan import AggregateStep, Call, NamedTree, ProjectStep, Step, trees_of
from slackwater.errors import QueryError

SUMS = "sums"
Fresh = dict[str, pa.RecordBatch]
"""New entries for each structure, by its name."""
STRUCTURES: dict[type[ValueSource], Any] = {ExtremeValue: Extremes, EndValue: Ends, DistinctValues: DistinctCounts}


class Aggregates:
    """All calls of one aggregate. `sample` has the columns of its input and no rows.

    With `partial`, windows are evaluated at instants, and rows that enter and leave together are kept as one entry.
    Otherwise they are evaluated at rows: every point is a row. `mixed` says that rows may not come in sequence.
    """

    def __init__(self, name: str, calls: Sequence[Call], sample: Rows, partial: bool, mixed: bool = False) -> None:
        self.partial = partial
        self.calls = Calls(calls, sample)
        self.others = {
            source: STRUCTURES[type(source)](f"{name}.{source.name}", source, mixed) for source in self.calls.sources
        }
        self.sums = (
            WindowSums(f"{name}.sums", list(self.calls.counted.values()), partial, mixed)
            if partial or self.calls.sums
            else None
        )

    def evaluated(self, rows: Rows) -> pa.RecordBatch:
        """Return the arguments of all calls; for FIRST and LAST also the columns of the sequence order, if known."""
        columns: dict[str, Any] = self.calls.evaluated(rows)
        if any(isinstance(source, EndValue) for source in self.calls.sources):
            columns |= {name: rows.marks[name] for name in (TIME, ARRIVAL, POSITION) if name in rows.marks}
        return table(columns or {TIME: rows.time})

    def entries(self, base: pa.RecordBatch, arguments: pa.RecordBatch) -> Fresh:
        """Return new entries for all structures."""
        fresh = {} if self.sums is None else {SUMS: self.sums.entries(base, arguments)}
        for other in self.others.values():
            entries = other.entries(base, arguments)
            fresh[other.name] = other.merged(entries) if self.partial else entries
        return fresh

    def merger(self, name: str) -> Merge:
        """Return the function that merges the entries of a structure that enter and leave together."""
        merge: Merge = {SUMS: self.sums, **{other.name: other for other in self.others.values()}}[name].merged
        return merge

    def expire(self, memory: Memory, clock: ExitClock) -> pa.RecordBatch | None:
        """Remove the entries that leave from the sums and return them."""
        return None if self.sums is None else self.sums.expire(memory, clock)

    def step(
        self, memory: Memory, clock: ExitClock, gone: pa.RecordBatch | None, fresh: Fresh, points: Points, size: int
    ) -> tuple[Tally, Found]:
        """Return the sums and other values at the points, and keep the new entries. `size` is the number of codes."""
        sums = {} if self.sums is None else self.sums.step(memory, clock, gone, fresh[SUMS], points, size)
        others = self.others.items()
        return sums, {source: other.step(memory, clock, fresh[other.name], points) for source, other in others}


class Groups:
    """Groups that live as long as one of their entries. Afterwards their codes are reused.

    With `parts`, every part of the stream is a group and its code is that of the part.
    """

    def __init__(self, name: str, types: Sequence[pa.DataType], parts: Codes | None = None) -> None:
        self.keys = parts or Codes(name, types)
        self.name = name
        self.own = parts is None

    def encode(
        self, memory: Memory, columns: Sequence[pa.Array], size: int, before: int | Ints, part: Ints | None
    ) -> Ints:
        """Return the codes of `size` rows. Codes of groups whose last entry left before this batch may be reused."""
        if part is not None and not self.own:
            return part
        return self.keys.encode(memory, columns, size, self.live(memory, before))

    def live(self, memory: Memory, clock: int | Ints) -> Bools:
        """Return for each code whether the group has an entry that leaves after `clock`."""
        last, part = memory.ints(f"{self.name}.last"), memory.ints(f"{self.name}.part")
        live: Bools = last > (clock if isinstance(clock, int) else clock[part])
        return live

    def parts(self, memory: Memory) -> Ints:
        """Return for each code the part that the group belongs to."""
        return memory.ints(f"{self.name}.part")

    def note(self, memory: Memory, code: Ints, exits: Ints, part: Ints | None, before: int | Ints) -> None:
        """Record the latest exit, and the part, of the groups of new entries."""
        live, size = self.live(memory, before), self.keys.size(memory)
        last = memory.sized(f"{self.name}.last", size, EARLIEST)
        last[: len(live)][~live] = EARLIEST
        np.maximum.at(last, code, exits)
        memory.put(f"{self.name}.last", last)
        if part is not None:
            of = memory.sized(f"{self.name}.part", size)
            of[code] = part
            memory.put(f"{self.name}.part", of)

    def trim(self, memory: Memory, now: int | Ints) -> None:
        """Drop the codes after the last one in use."""
        if not self.own:
            return
        size = self.keys.trim(memory, self.live(memory, now))
        for name in (f"{self.name}.last", f"{self.name}.part"):
            if len(memory.ints(name)) > size:
                memory.put(name, memory.ints(name)[:size])


class Grouping:
    """The groups and calls of an aggregate over a window.

    `parts` has the codes of the partition columns, if the window has such columns. `mixed` says that rows may not come
    in sequence.
    """

    def __init__(
        self,
        name: str,
        by: Sequence[str],
        inner: Sequence[Step],
        aggregate: AggregateStep,
        sample: Rows,
        partial: bool,
        parts: Codes | None = None,
        mixed: bool = False,
    ) -> None:
        refuse_marks(inner, aggregate)
        self.by = list(by)
        self.items = aggregate.group
        projected = any(isinstance(step, ProjectStep) for step in inner)
        known = {} if projected else {name: place for place, name in enumerate(by)}
        self.keyed = [item for item in aggregate.group if not is_mark(item) and _name(item) not in known]
        places = iter(range(len(by), len(by) + len(self.keyed)))
        self.places = [
            -1 if is_mark(item) else known[_name(item)] if _name(item) in known else next(places) for item in self.items
        ]
        left = below(inner, sample)
        self.aggregates = Aggregates(name, aggregate.calls, left.rows, partial, mixed)
        self.kinds = [known_type(item.type) or evaluate(item.tree, left.rows).type for item in aggregate.group]
        kinds = [column.type for column in self.keys(left)]
        self.groups = Groups(f"{name}.groups", kinds, parts if by and not self.keyed else None)
        self.ordered = bool(ordering(sample))
        self.names = [*(item.name for item in aggregate.group), *(call.name for call in aggregate.calls)]

    def keys(self, left: Below) -> list[pa.Array]:
        """Return the key columns: the partition columns of the stream, then the GROUP BY items that are keys."""
        parts = [left.column(name) for name in self.by]
        return [normal(column) for column in [*parts, *(evaluate(item.tree, left.rows) for item in self.keyed)]]

    def result(self, keys: Sequence[pa.Array], calls: Sequence[pa.Array], instants: Rows) -> Rows:
        """Return result rows from key columns and calls, with the marks and times of the instants."""
        pairs = zip(self.items, self.places, strict=True)
        columns = [evaluate(item.tree, instants) if place < 0 else keys[place] for item, place in pairs]
        group = [column.cast(kind) for column, kind in zip(columns, self.kinds, strict=True)]
        rows = instants.holding(table(dict(zip(self.names, [*group, *calls], strict=True))))
        return _by_key(rows, keys) if self.ordered and not ordering(rows) else rows

    def nothing(self, instants: Rows) -> Rows:
        """Return an empty result with the columns of result rows."""
        calls = [pa.array([], kind) for kind in self.aggregates.calls.types]
        return self.result([pa.array([], kind) for kind in self.groups.keys.types], calls, instants)


def _by_key(rows: Rows, keys: Sequence[pa.Array]) -> Rows:
    """Mark the result rows of a boundary with their keys, by which they are ordered across buckets.

    The result rows of a row need no mark: all rows of its instant are in one bucket.
    """
    marks = {f"{ORDER}{place}": key for place, key in enumerate(keys)}
    return Rows(rows.batch, rows.time, {**rows.marks, **marks})


def _name(item: NamedTree) -> str:
    """Return the name of the column if an item is a plain column, else an empty text."""
    return str(item.tree[1]) if item.tree[0] == "column" else ""


def is_mark(item: NamedTree) -> bool:
    """Return whether an item depends on the instant alone, and so is the same for all of its rows."""
    return bool(marks_of(item.tree)) and not columns_of(item.tree)


def refuse_marks(inner: Sequence[Step], aggregate: AggregateStep) -> None:
    """Raise an error if a mark such as `window_end` is used below an aggregate, where a row is in several instants."""
    trees = [tree for call in aggregate.calls for tree in call.arguments]
    trees += [item.tree for item in aggregate.group if not is_mark(item)]
    trees += [tree for step in inner for tree in trees_of(step)]
    named = sorted(set().union(*map(marks_of, trees)))
    if named:
        raise QueryError(
            "SW-355",
            f"'{named[0]}' below an aggregate cannot be computed in the fused operator",
            expected="the instant's columns in the select list, in HAVING, or alone in GROUP BY",
            hint="use the event time column instead",
        )
