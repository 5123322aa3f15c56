"""Aggregate functions over tuples with lifetimes: the value at each point, and its bound.

Sums are exact tallies that grow and shrink. MIN, MAX, FIRST and LAST are chosen among the live tuples at each point.
The bound of a value is the first known expiry that changes it: for a sum the expiry of any tuple with a value, for a
maximum that of the last tuple with this value. If expiring values cancel, the bound is early and the same value is sent
again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from slackwater.engine.changelog.best import Best, DistinctCount, End, GroupMembers, LastingExtreme
from slackwater.engine.columns.arrays import Bools, Ints
from slackwater.engine.columns.rows import Rows
from slackwater.engine.columns.types import known_type
from slackwater.engine.numbers.finish import FUNCTIONS
from slackwater.engine.numbers.tally import ROWS, Tally
from slackwater.engine.operators.aggregates import LEAST, Arguments, not_here
from slackwater.engine.plan import Call


@dataclass(frozen=True, slots=True)
class Worked:
    """The results at the points, before they are read as columns."""

    sums: Tally
    others: dict[str, pa.Array]


class Calls:
    """The calls of one aggregate. `sample` has the columns of its input and no rows."""

    def __init__(self, calls: Sequence[Call], sample: Rows) -> None:
        self.arguments = Arguments(sample)
        self.others: dict[str, Best] = {}
        self.whole = False
        """Whether every member counts, as in COUNT(*)."""
        self.readers = [self._reader(call) for call in calls]
        nothing = Worked({ROWS: np.zeros(0, np.int64)}, {name: self._empty(each) for name, each in self.others.items()})
        self.types = [
            known_type(call.type) or read(nothing).type for call, read in zip(calls, self.readers, strict=True)
        ]

    @property
    def numbered(self) -> bool:
        """Whether a call depends on the order in which tuples began."""
        return any(isinstance(each, End) for each in self.others.values())

    def values(self, sums: Tally, view: GroupMembers | None) -> tuple[list[pa.Array], Ints | None]:
        """Return the values at the points and their bounds; without a view there are no bounds."""
        others = {} if view is None else {name: each.at(view) for name, each in self.others.items()}
        worked = Worked(sums, {name: value for name, (value, _) in others.items()})
        columns = [read(worked).cast(kind) for read, kind in zip(self.readers, self.types, strict=True)]
        if view is None:
            return columns, None
        bounds_ = [bound for _, bound in others.values()]
        bounds_ += [view.soonest(None if self.whole else view.known(name)) for name in self.arguments.counted]
        bounds_.append(view.soonest() if self.whole else view.last())
        return columns, np.minimum.reduce(bounds_)

    def needed(self, view: GroupMembers) -> Bools:
        """Return a mask of the members that MIN, MAX, FIRST, LAST and COUNT(DISTINCT) need if no member ever ends."""
        needed: Bools = np.logical_or.reduce([each.needed(view) for each in self.others.values()])
        return needed

    def _reader(self, call: Call) -> Callable[[Worked], pa.Array]:
        given = [self.arguments.column(tree) for tree in call.arguments]
        function = call.function
        if call.distinct and function == "count":
            return self._other(f"distinct.{'.'.join(given)}", DistinctCount(given))
        if call.distinct and function not in LEAST:
            raise not_here(f"{function}(DISTINCT ...)")
        if function in LEAST:
            return self._other(f"{LEAST[function]}.{given[0]}", LastingExtreme(given[0], LEAST[function]))
        if function in ("first", "last"):
            name = f"{function}.{call.ignore_nulls}.{given[0]}"
            return self._other(name, End(given[0], function == "last", call.ignore_nulls))
        if function in ("count", *FUNCTIONS):
            return self._sum(function, given[0] if given else None)
        raise not_here(function)

    def _other(self, name: str, other: Best) -> Callable[[Worked], pa.Array]:
        self.others.setdefault(name, other)
        return lambda worked: worked.others[name]

    def _sum(self, function: str, name: str | None) -> Callable[[Worked], pa.Array]:
        self.whole |= name is None
        read = self.arguments.summed(function, name)
        return lambda worked: read(worked.sums)

    def _empty(self, other: Any) -> pa.Array:
        return pa.array([], pa.int64() if isinstance(other, DistinctCount) else self.arguments.kinds[other.argument])
