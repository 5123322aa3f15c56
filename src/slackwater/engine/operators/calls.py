"""The aggregate calls of a query: what each is read from, for windows and for changelogs alike.

COUNT, SUM, AVG, STDDEV, VARIANCE and the bitwise functions are read from sums (`engine/numbers`), the others from an
extreme, an end or the distinct values of a group. `source_of` is the table of functions. Windows (`groups.py`) and
EMIT CHANGES (`changelog/aggregate.py`) have one structure for each kind of source.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from slackwater.engine.columns.arrays import NO_INTS, Bools, known_type, type_name, valid
from slackwater.engine.columns.keys import normal
from slackwater.engine.columns.rows import Rows
from slackwater.engine.expressions import evaluate
from slackwater.engine.numbers.tally import FUNCTIONS, ROWS, Argument, Tally, finished
from slackwater.engine.plan import Call, Tree
from slackwater.errors import QueryError


@dataclass(frozen=True, slots=True)
class ExtremeValue:
    """The greatest (or, with `least`, the least) value of a column. NULLs are ignored.

    With `by`, the value of the row in which that column is greatest (or least); among equal ones the greatest (or
    least) value.
    """

    argument: str
    least: bool
    by: str | None = None

    @property
    def name(self) -> str:
        return f"{'min' if self.least else 'max'}.{self.argument}" + (f".{self.by}" if self.by else "")

    def compared(self, column: Callable[[str], pa.Array]) -> tuple[pa.Array, Bools]:
        """Return the values to compare, and a mask of the rows that count. `column` returns a column by its name.

        With `by`, the values are pairs of `by` and the argument.
        """
        values = column(self.argument)
        if self.by is None:
            return values, valid(values)
        by = column(self.by)
        return pa.StructArray.from_arrays([normal(by), normal(values)], ["by", "value"]), valid(by)

    def result(self, compared: pa.Array) -> pa.Array:
        """Return the values of what was compared."""
        return compared if self.by is None else pc.struct_field(compared, "value")


@dataclass(frozen=True, slots=True)
class EndValue:
    """The value of the first (or `last`) row. `skips` ignores NULLs."""

    argument: str
    last: bool
    skips: bool

    @property
    def name(self) -> str:
        return f"{'last' if self.last else 'first'}{'.known' if self.skips else ''}.{self.argument}"


@dataclass(frozen=True, slots=True)
class DistinctValues:
    """The number of distinct values of columns. Rows with a NULL are ignored."""

    arguments: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"distinct.{'.'.join(self.arguments)}"


ValueSource = ExtremeValue | EndValue | DistinctValues
SQUARED = ("stddev_samp", "stddev_pop", "var_samp", "var_pop")
BITWISE = ("bit_and", "bit_or", "bit_xor")


def source_of(call: Call, given: Sequence[str]) -> ValueSource | None:
    """Return what a call over these columns is read from, or None if it is read from the sums."""
    match call.function, call.distinct:
        case "count", True:
            return DistinctValues(tuple(given))
        case "min" | "bool_and", _:
            return ExtremeValue(given[0], least=True)
        case "max" | "bool_or", _:
            return ExtremeValue(given[0], least=False)
        case "min_by" | "max_by" as function, False if len(given) == 2:
            return ExtremeValue(given[0], function == "min_by", given[1])
        case function, True:
            raise not_here(f"{function}(DISTINCT ...)")
        case "first" | "last" as function, _:
            return EndValue(given[0], function == "last", call.ignore_nulls)
        case function, _ if function in ("count", *FUNCTIONS):
            return None
    raise not_here(call.function)


def not_here(what: str) -> QueryError:
    return QueryError(
        "SW-354",
        f"{what} cannot be computed in the fused operator",
        expected="count, count(distinct), sum, avg, min, max, min_by, max_by, bool_and, bool_or, bit_and, bit_or, "
        "bit_xor, first, last, stddev, variance",
        hint="use another aggregate, or compute it over what this query yields",
    )


def no_bits(function: str, kind: pa.DataType) -> QueryError:
    return QueryError(
        "SW-354",
        f"{function} of {type_name(kind)} cannot be computed",
        expected="a whole number: TINYINT, SMALLINT, INT or BIGINT",
        hint="cast the argument to one of them",
    )


Found = Mapping[ValueSource, pa.Array]
"""The values at the points, by their source."""


class Calls:
    """All calls of one aggregate. `sample` has the columns of its input and no rows.

    `trees` has the argument columns, `counted` those that are counted or summed, and `sources` what is read besides the
    sums. `sums` says whether a call is read from the sums, `whole` whether every row counts, as in COUNT(*).
    """

    def __init__(self, calls: Sequence[Call], sample: Rows) -> None:
        self.trees: dict[str, Tree] = {}
        self.counted: dict[str, Argument] = {}
        self.sources: list[ValueSource] = []
        self.sums = self.whole = False
        self._kinds: dict[str, pa.DataType] = {}
        self._readers = [self._reader(call, sample) for call in calls]
        nothing = {source: pa.array([], self._kind(source)) for source in self.sources}
        columns = [read({ROWS: NO_INTS}, nothing) for read in self._readers]
        self.types = [known_type(call.type) or column.type for call, column in zip(calls, columns, strict=True)]

    def evaluated(self, rows: Rows) -> dict[str, pa.Array]:
        """Return all argument columns for these rows."""
        return {name: evaluate(tree, rows) for name, tree in self.trees.items()}

    def columns(self, sums: Tally, others: Found) -> list[pa.Array]:
        """Return the values of the calls in their types."""
        return [read(sums, others).cast(kind) for read, kind in zip(self._readers, self.types, strict=True)]

    def _reader(self, call: Call, sample: Rows) -> Callable[[Tally, Found], pa.Array]:
        """Return the function that reads the value of a call, and add what it is read from."""
        given = [self._column(tree, sample) for tree in call.arguments]
        source = source_of(call, given)
        if source is None:
            return self._summed(call.function, given[0] if given else None)
        if source not in self.sources:
            self.sources.append(source)
        return lambda sums, others: others[source]

    def _column(self, tree: Tree, sample: Rows) -> str:
        """Return the name of the column of an argument; equal arguments share one column."""
        known = {each: name for name, each in self.trees.items()}
        name = known.get(tree, f"a{len(self.trees)}")
        self.trees[name] = tree
        self._kinds[name] = evaluate(tree, sample).type
        return name

    def _summed(self, function: str, name: str | None) -> Callable[[Tally, Found], pa.Array]:
        """Return the function that reads the value of a call from the sums; without a column it counts rows."""
        self.sums = True
        if name is None:
            self.whole = True
            return lambda sums, others: finished(function, sums, None, None)
        kind = self._kinds[name]
        if function != "count" and pa.types.is_string(kind):
            raise not_here(f"{function} of text")
        if function in BITWISE and not pa.types.is_integer(kind):
            raise no_bits(function, kind)
        known = self.counted.get(name, Argument(name))
        self.counted[name] = Argument(
            name,
            summed=known.summed or function not in ("count", *BITWISE),
            squared=known.squared or function in SQUARED,
            bits=known.bits or function in BITWISE,
        )
        place = list(self.counted).index(name)
        return lambda sums, others: finished(function, sums, place, kind)

    def _kind(self, source: ValueSource) -> pa.DataType:
        return pa.int64() if isinstance(source, DistinctValues) else self._kinds[source.argument]
