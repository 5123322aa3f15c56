"""The aggregates of a query, split into the structures that compute them: sums, extremes, distinct values and ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from slackwater.engine.columns.arrays import NO_INTS, Bools, Ints, table
from slackwater.engine.columns.rows import Rows
from slackwater.engine.columns.state import Memory
from slackwater.engine.columns.types import known_type
from slackwater.engine.expressions.evaluate import evaluate
from slackwater.engine.numbers.finish import FUNCTIONS, finished
from slackwater.engine.numbers.tally import ROWS, Argument, Tally
from slackwater.engine.operators.distinct import DistinctCounts
from slackwater.engine.operators.ends import Ends, Firsts
from slackwater.engine.operators.entries import ARRIVAL, POSITION, TIME, ExitClock, Merge, Points
from slackwater.engine.operators.extremes import Extremes
from slackwater.engine.operators.sums import WindowSums
from slackwater.engine.plan import Call, Tree
from slackwater.errors import QueryError

SUMS = "sums"
Fresh = dict[str, pa.RecordBatch]
"""New entries for each structure, by its name."""


@dataclass(slots=True)
class Found:
    """The values at the points: the sums, those of the other structures by name, and the arguments of the points' rows.

    `own` is read only if every point is a row.
    """

    sums: Tally
    others: dict[str, Any]
    own: Any = None


Other = Extremes | DistinctCounts | Ends | Firsts
Read = Callable[[Found], pa.Array]


class Aggregates:
    """All calls of one aggregate. `sample` has the columns of its input and no rows.

    With `partial`, windows are evaluated at instants, and rows that enter and leave together are kept as one entry.
    Otherwise they are evaluated at rows: every point is a row. `mixed` says that rows may not come in sequence.
    """

    def __init__(self, name: str, calls: Sequence[Call], sample: Rows, partial: bool, mixed: bool = False) -> None:
        self.name = name
        self.partial = partial
        self.mixed = mixed
        self.arguments = Arguments(sample)
        self.others: dict[str, Other] = {}
        self._sample = sample
        self._needs_rows = partial
        self.readers = [self._reader(call) for call in calls]
        self.types = [
            known_type(call.type) or read(self._nothing()).type for call, read in zip(calls, self.readers, strict=True)
        ]
        self.sums = (
            WindowSums(f"{name}.sums", list(self.arguments.counted.values()), partial) if self._needs_rows else None
        )

    def evaluated(self, rows: Rows) -> pa.RecordBatch:
        """Return the arguments of all calls; for FIRST and LAST also the columns of the sequence order, if known."""
        columns: dict[str, Any] = self.arguments.evaluated(rows)
        if any(isinstance(other, Ends) for other in self.others.values()):
            columns |= {name: rows.marks[name] for name in (TIME, ARRIVAL, POSITION) if name in rows.marks}
        return table(columns or {TIME: rows.time})

    def entries(self, base: pa.RecordBatch, arguments: pa.RecordBatch) -> Fresh:
        """Return new entries for all structures."""
        fresh = {} if self.sums is None else {SUMS: self.sums.entries(base, arguments)}
        for name, other in self.others.items():
            entries = other.entries(base, arguments)
            fresh[name] = other.merged(entries) if self.partial else entries
        return fresh

    def merger(self, name: str) -> Merge:
        """Return the function that merges the entries of a structure that enter and leave together."""
        return self.others[name].merged if self.sums is None or name != SUMS else self.sums.merged

    def expire(self, memory: Memory, clock: ExitClock) -> pa.RecordBatch | None:
        """Remove the entries that leave from the sums and return them."""
        return None if self.sums is None else self.sums.expire(memory, clock)

    def step(
        self,
        memory: Memory,
        clock: ExitClock,
        gone: pa.RecordBatch | None,
        fresh: Fresh,
        points: Points,
        known: Bools,
        size: int,
    ) -> Found:
        """Return the values of all structures at the points, and keep the new entries.

        `known` says for each code whether its group had entries before; `size` is the current number of codes.
        """
        mixed = self.mixed
        sums = {} if self.sums is None else self.sums.step(memory, clock, gone, fresh[SUMS], points, size, mixed)
        others: dict[str, Any] = {}
        for name, other in self.others.items():
            if isinstance(other, Firsts):
                others[name] = other.step(
                    memory, clock, fresh[name], points, np.append(known, np.zeros(size, np.bool_))[:size]
                )
            else:
                others[name] = other.step(memory, clock, fresh[name], points, mixed)
        return Found(sums, others)

    def columns(self, found: Found) -> list[pa.Array]:
        """Return the values of the calls in their types."""
        return [read(found).cast(kind) for read, kind in zip(self.readers, self.types, strict=True)]

    def _reader(self, call: Call) -> Read:
        """Return the function that reads the value of a call, and add the structure that computes it."""
        given = [self.arguments.column(tree) for tree in call.arguments]
        function = call.function
        if call.distinct and function == "count":
            return self._other(DistinctCounts(f"{self.name}.distinct.{'.'.join(given)}", given))
        if call.distinct and function not in LEAST:
            raise not_here(f"{function}(DISTINCT ...)")
        if function in LEAST:
            least = LEAST[function]
            return self._other(Extremes(f"{self.name}.{'min' if least else 'max'}.{given[0]}", given[0], least))
        if function == "last" and not call.ignore_nulls and not self.partial:
            return lambda found: found.own.column(given[0])  # each row is the last one of its group at its own point
        if function in ("first", "last"):
            name = f"{self.name}.{function}{'.known' if call.ignore_nulls else ''}.{given[0]}"
            if function == "first" and not self.mixed:
                return self._other(Firsts(name, given[0], call.ignore_nulls))
            return self._other(Ends(name, given[0], function == "last", call.ignore_nulls))
        if function in ("count", *FUNCTIONS):
            return self._sum(function, given[0] if given else None)
        raise not_here(function)

    def _other(self, other: Other) -> Read:
        self.others.setdefault(other.name, other)
        return lambda found: _array(found.others[other.name])

    def _sum(self, function: str, name: str | None) -> Read:
        self._needs_rows = True
        read = self.arguments.summed(function, name)
        return lambda found: read(found.sums)

    def _nothing(self) -> Found:
        """Return the values at no points, from which the types of the calls are read."""
        none = self.evaluated(self._sample)
        others: dict[str, Any] = {}
        for name, other in self.others.items():
            others[name] = NO_INTS if isinstance(other, DistinctCounts) else none.column(other.argument)
        return Found({ROWS: NO_INTS}, others, none)


def _array(values: Ints | pa.Array) -> pa.Array:
    return pa.array(values) if isinstance(values, np.ndarray) else values


# The arguments of aggregate calls: each is evaluated into one column, which may be counted, summed or squared.


LEAST = {"min": True, "max": False, "bool_and": True, "bool_or": False}
"""The functions that return an extreme of their group; True for the least value, False for the greatest."""
SQUARED = ("stddev_samp", "stddev_pop", "var_samp", "var_pop")


class Arguments:
    """The argument columns of calls. `sample` has the columns of their input and no rows."""

    def __init__(self, sample: Rows) -> None:
        self.trees: dict[str, Tree] = {}
        self.kinds: dict[str, pa.DataType] = {}
        self.counted: dict[str, Argument] = {}
        self._sample = sample

    def evaluated(self, rows: Rows) -> dict[str, pa.Array]:
        """Return all argument columns for these rows."""
        return {name: evaluate(tree, rows) for name, tree in self.trees.items()}

    def column(self, tree: Tree) -> str:
        """Return the name of the column of an argument; equal arguments share one column."""
        known = {each: name for name, each in self.trees.items()}
        name = known.get(tree, f"a{len(self.trees)}")
        self.trees[name] = tree
        self.kinds[name] = evaluate(tree, self._sample).type
        return name

    def summed(self, function: str, name: str | None) -> Callable[[Tally], pa.Array]:
        """Return the function that reads the value of a call from the sums; without a column it counts rows."""
        if name is None:
            return lambda sums: finished(function, sums, None, None)
        if function != "count" and pa.types.is_string(self.kinds[name]):
            raise not_here(f"{function} of text")
        known = self.counted.get(name, Argument(name))
        self.counted[name] = Argument(name, known.summed or function != "count", known.squared or function in SQUARED)
        place, kind = list(self.counted).index(name), self.kinds[name]
        return lambda sums: finished(function, sums, place, kind)


def not_here(what: str) -> QueryError:
    return QueryError(
        "SW-354",
        f"{what} cannot be computed in the fused operator",
        expected="count, count(distinct), sum, avg, min, max, first, last, stddev, variance",
        hint="use another aggregate, or compute it over what this query yields",
    )
