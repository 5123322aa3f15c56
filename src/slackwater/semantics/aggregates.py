"""Aggregates as folds: start empty, add the values of a group's rows in sequence order, read the result.

The folds of two consecutive intervals merge into the fold of both, so that a window can be computed from panes. Sums of
DOUBLEs are kept exactly (as fractions) and rounded once, so that the answer does not depend on the order of additions.
`FOLDS` has the fold of each aggregate function; `new_fold` and `add_row` evaluate a call such as `AVG(speed)`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import partial, reduce
from operator import and_, or_, xor
from typing import Any, Self

from sqlglot import exp

from slackwater.algebra.expressions import Tree, text
from slackwater.errors import QueryError
from slackwater.semantics.expressions import RowScope, evaluate
from slackwater.semantics.rows import Row, Value
from slackwater.semantics.values import check_bigint, orders


class Fold(ABC):
    """The summary of the values added so far."""

    @abstractmethod
    def add(self, *values: Value) -> None:
        """Add the arguments of the call for one more row."""

    @abstractmethod
    def merge(self, later: Self) -> None:
        """Add the rows of another fold, all of which come later."""

    @abstractmethod
    def result(self) -> Value: ...


@dataclass(slots=True)
class Count(Fold):
    """COUNT(*) counts rows; COUNT(x, ...) counts rows in which no argument is NULL."""

    rows: int = 0

    def add(self, *values: Value) -> None:
        self.rows += None not in values

    def merge(self, later: Count) -> None:
        self.rows += later.rows

    def result(self) -> int:
        return self.rows


@dataclass(slots=True)
class Moments(Fold, ABC):
    """Count, sum and sum of squares of the values: enough for SUM, AVG, STDDEV and VARIANCE."""

    count: int = 0
    total: Any = 0
    squares: Any = 0
    special: float = 0.0
    floating: bool = False
    decimal: bool = False

    def add(self, *values: Value) -> None:
        (value,) = values
        if value is None:
            return
        self.count += 1
        self.floating |= isinstance(value, float)
        self.decimal |= isinstance(value, Decimal)
        if isinstance(value, float) and not math.isfinite(value):
            self.special += value
        else:
            self.total += Fraction(value)
            self.squares += Fraction(value) ** 2

    def merge(self, later: Moments) -> None:
        self.count += later.count
        self.total += later.total
        self.squares += later.squares
        self.special += later.special
        self.floating |= later.floating
        self.decimal |= later.decimal

    def as_value(self, exact: Fraction) -> Value:
        """Return a number of the type of the values: BIGINT, DECIMAL or DOUBLE."""
        if self.floating:
            return self.special if not math.isfinite(self.special) else double(exact)
        if self.decimal:
            return Decimal(exact.numerator) / Decimal(exact.denominator)
        return check_bigint(int(exact)) if exact.denominator == 1 else float(exact)

    @property
    def spread(self) -> Fraction:
        """Return the sum of the squared distances from the mean."""
        return Fraction(self.squares) - Fraction(self.total) ** 2 / self.count


def double(exact: Fraction) -> float:
    """Return the nearest DOUBLE, or infinity beyond the greatest one.

    >>> double(Fraction(1, 4)), double(Fraction(-(10**400)))
    (0.25, -inf)
    """
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


@dataclass(slots=True)
class Sum(Moments):
    """SUM: NULL over no values, never 0."""

    def result(self) -> Value:
        return self.as_value(Fraction(self.total)) if self.count else None


@dataclass(slots=True)
class Average(Moments):
    def result(self) -> Value:
        if not self.count:
            return None
        if self.floating and math.isinf(double(Fraction(self.total))):
            return self.as_value(Fraction(self.total))  # the sum overflowed: so does the mean
        mean = self.as_value(Fraction(self.total) / self.count)
        return float(mean) if isinstance(mean, int) else mean


@dataclass(slots=True)
class Deviation(Moments):
    """STDDEV and VARIANCE: `besides` is 1 for a sample and 0 for a population.

    A sample of one value has no deviation.
    """

    besides: int = 1
    root: bool = True

    def result(self) -> Value:
        if self.count <= self.besides:
            return None
        if not math.isfinite(self.special):
            return math.nan
        variance = float(self.spread / (self.count - self.besides))
        return math.sqrt(variance) if self.root else variance


@dataclass(slots=True)
class MinOrMax(Fold):
    """MIN (`sign` -1) and MAX (1) of the values that are not NULL; MIN_BY and MAX_BY return the paired value.

    If several values are paired with the extreme, MIN_BY takes the smallest of them and MAX_BY the greatest.
    """

    sign: int = 1
    best: tuple[Value, ...] | None = None

    def add(self, *values: Value) -> None:
        if values[-1] is not None:
            self.take(values)

    def take(self, values: tuple[Value, ...]) -> None:
        if self.best is None or self.better(values[::-1], self.best[::-1]):
            self.best = values

    def better(self, values: tuple[Value, ...], than: tuple[Value, ...]) -> bool:
        return orders(values) > orders(than) if self.sign > 0 else orders(values) < orders(than)

    def merge(self, later: MinOrMax) -> None:
        if later.best is not None:
            self.take(later.best)

    def result(self) -> Value:
        return None if self.best is None else self.best[0]


@dataclass(slots=True)
class FirstOrLast(Fold):
    """FIRST and LAST of a group's rows in sequence order, including NULLs unless IGNORE NULLS is stated."""

    last: bool = False
    ignore_nulls: bool = False
    seen: list[Value] = field(default_factory=list)

    def add(self, *values: Value) -> None:
        (value,) = values
        if value is None and self.ignore_nulls:
            return
        if self.last or not self.seen:
            self.seen = [value]

    def merge(self, later: FirstOrLast) -> None:
        if later.seen and (self.last or not self.seen):
            self.seen = later.seen

    def result(self) -> Value:
        return self.seen[0] if self.seen else None


@dataclass(slots=True)
class Logic(Fold):
    """BOOL_AND (`all_of`) and BOOL_OR of the values that are not NULL."""

    all_of: bool = True
    seen: list[bool] = field(default_factory=list)

    def add(self, *values: Value) -> None:
        self.seen += [value for value in values if value is not None]

    def merge(self, later: Logic) -> None:
        self.seen += later.seen

    def result(self) -> Value:
        if not self.seen:
            return None
        return all(self.seen) if self.all_of else any(self.seen)


@dataclass(slots=True)
class Bits(Fold):
    """BIT_AND, BIT_OR or BIT_XOR of the values that are not NULL."""

    operator: Callable[[int, int], int]
    seen: list[int] = field(default_factory=list)

    def add(self, *values: Value) -> None:
        (value,) = values
        if value is None:
            return
        if type(value) is not int:  # True is an int, but has no bits in SQL
            raise QueryError("SW-242", f"{value!r} has no bits to combine", hint="cast it to a whole number")
        self.seen.append(value)

    def merge(self, later: Bits) -> None:
        self.seen += later.seen

    def result(self) -> Value:
        return reduce(self.operator, self.seen) if self.seen else None


@dataclass(slots=True)
class Listed(Fold):
    """COLLECT_LIST: the values that are not NULL, in sequence order."""

    seen: list[Value] = field(default_factory=list)

    def add(self, *values: Value) -> None:
        self.seen += [value for value in values if value is not None]

    def merge(self, later: Listed) -> None:
        self.seen += later.seen

    def result(self) -> Value:
        return tuple(self.seen)


@dataclass(slots=True)
class Each(Fold):
    """Any fold over DISTINCT arguments: each value once, without NULLs."""

    inner: Fold
    seen: dict[Any, tuple[Value, ...]] = field(default_factory=dict)

    def add(self, *values: Value) -> None:
        if None not in values:
            self.seen.setdefault(orders(values), values)

    def merge(self, later: Each) -> None:
        for key, values in later.seen.items():
            self.seen.setdefault(key, values)

    def result(self) -> Value:
        fold = deepcopy(self.inner)
        for values in self.seen.values():
            fold.add(*values)
        return fold.result()


@dataclass(slots=True)
class CountIf(Fold):
    """COUNT_IF: the rows for which the argument is true."""

    rows: int = 0

    def add(self, *values: Value) -> None:
        self.rows += values == (True,)

    def merge(self, later: CountIf) -> None:
        self.rows += later.rows

    def result(self) -> int:
        return self.rows


FOLDS: dict[type, Callable[[], Fold]] = {
    exp.Count: Count,
    exp.CountIf: CountIf,
    exp.Sum: Sum,
    exp.Avg: Average,
    exp.Min: partial(MinOrMax, -1),
    exp.Max: partial(MinOrMax, 1),
    exp.ArgMin: partial(MinOrMax, -1),
    exp.ArgMax: partial(MinOrMax, 1),
    exp.First: FirstOrLast,
    exp.AnyValue: FirstOrLast,
    exp.Last: partial(FirstOrLast, True),
    exp.Stddev: Deviation,
    exp.StddevSamp: Deviation,
    exp.StddevPop: partial(Deviation, besides=0),
    exp.Variance: partial(Deviation, root=False),
    exp.VariancePop: partial(Deviation, besides=0, root=False),
    exp.LogicalAnd: Logic,
    exp.LogicalOr: partial(Logic, False),
    exp.BitwiseAndAgg: partial(Bits, and_),
    exp.BitwiseOrAgg: partial(Bits, or_),
    exp.BitwiseXorAgg: partial(Bits, xor),
    exp.ArrayAgg: Listed,
}


def new_fold(call: Tree) -> Fold:
    """Return an empty fold for an aggregate call."""
    match call:
        case exp.Filter():
            return new_fold(call.this)
        case exp.IgnoreNulls(this=exp.Last()):
            return FirstOrLast(last=True, ignore_nulls=True)
        case exp.IgnoreNulls():
            return FirstOrLast(ignore_nulls=True)
        case exp.AggFunc(this=exp.Distinct()):
            return Each(FOLDS[type(call)]())
    if type(call) not in FOLDS:
        raise QueryError(
            "SW-242",
            f"'{text(call)}' has no meaning in the reference interpreter",
            hint="use a simpler aggregate, or run the case on Spark",
        )
    return FOLDS[type(call)]()


def add_row(fold: Fold, call: Tree, scope: RowScope, row: Row) -> None:
    """Add a row to the fold of a call, unless its FILTER leaves the row out."""
    match call:
        case exp.Filter(this=inner, expression=exp.Where(this=condition)):
            if evaluate(condition, scope, row) is True:
                add_row(fold, inner, scope, row)
        case exp.IgnoreNulls(this=inner):
            add_row(fold, inner, scope, row)
        case _:
            fold.add(*arguments(call, scope, row))


def arguments(call: Tree, scope: RowScope, row: Row) -> tuple[Value, ...]:
    """Return the values of a call's arguments over a row; COUNT(*) has none."""
    if isinstance(call.this, exp.Star):
        return ()
    trees = call.this.expressions if isinstance(call.this, exp.Distinct) else list(call.iter_expressions())
    return tuple(evaluate(tree, scope, row) for tree in trees)
