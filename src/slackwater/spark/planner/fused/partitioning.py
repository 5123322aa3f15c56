"""By which columns a chain can be taken apart, so that each part is computed without the rows of another.

Every step that looks at more than one row needs certain rows together: those of a group, of a part, or all. Buckets by
columns that all of them have in common keep together what any of them needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from slackwater.engine.expressions.evaluate import marks_of
from slackwater.engine.plan import (
    AggregateStep,
    Chain,
    Compute,
    DistinctStep,
    FilterStep,
    FrequencyStep,
    NamedTree,
    ProjectStep,
    Size,
    Step,
    SubqueryStep,
    Tree,
    WindowStep,
)
from slackwater.spark.operator.entry import Entry

NUMBER = "row_number"


@dataclass(frozen=True, slots=True)
class Need:
    """What a step needs together: the rows that agree in these columns of the input."""

    what: str
    columns: frozenset[str]

    def __str__(self) -> str:
        return f"{self.what} needs the rows of each {', '.join(sorted(self.columns))}" if self.columns else self.what


@dataclass(frozen=True, slots=True)
class Partitioning:
    """The columns that buckets are made of, in the input's order; none: one bucket for all. And why."""

    columns: tuple[str, ...]
    reason: str

    def __str__(self) -> str:
        where = f"in buckets by {', '.join(self.columns)}" if self.columns else "in one bucket"
        return f"{where}: {self.reason}"


def spelled(found: Partitioning, entries: Iterable[Entry]) -> Partitioning:
    """A partitioning as people read it: computed columns by their expressions."""
    texts = {item.name: item.expr.sql for entry in entries for item in entry.columns}
    columns = tuple(texts.get(name, name) for name in found.columns)
    return Partitioning(columns, re.sub(r"#\d+", lambda name: texts.get(name[0], name[0]), found.reason))


def partitioning(chain: Chain) -> Partitioning:
    """The columns that every step of a chain can be taken apart by."""
    needs = _Walk({name: name for name in chain.input.names}).needs(chain.steps)
    if not needs:
        return Partitioning((), "nothing needs other rows, and so they leave in sequence")
    shared = frozenset.intersection(*(need.columns for need in needs))
    columns = tuple(name for name in chain.input.names if name in shared)
    if columns:
        return Partitioning(columns, "no step needs rows of two of them together")
    whole = next((need for need in needs if not need.columns), None)
    if whole is not None:
        return Partitioning((), str(whole))
    return Partitioning((), "no column serves all: " + "; ".join(sorted({str(need) for need in needs})))


@dataclass(slots=True)
class _Walk:
    """Where columns come from, and the window that holds the rows, as the steps go by."""

    origin: dict[str, str | None]
    window: WindowStep | None = None
    by: frozenset[str] = frozenset()
    found: list[Need] = field(default_factory=list)

    def needs(self, steps: Sequence[Step]) -> list[Need]:
        for number, step in enumerate(steps):
            self._take(step, steps[number + 1 :])
        return self.found

    def _take(self, step: Step, rest: Sequence[Step]) -> None:
        match step:
            case FilterStep(condition=condition):
                self._numbered([condition])
            case ProjectStep(items=items):
                self._numbered(item.tree for item in items)
                self.origin = self._named(items)
            case FrequencyStep(every=every, by=by, strict=False):
                self._need(f"FREQUENCY {_said(every)}", self._of(by), "counts every row")
            case WindowStep():
                self._hold(step, rest)
            case AggregateStep(group=group, calls=calls):
                self._numbered([item.tree for item in group] + [tree for call in calls for tree in call.arguments])
                grouped = self._named(group)
                if self._by_time():
                    whole = "is by expressions" if group else "of all rows"
                    self._need("GROUP BY" if group else "an aggregate", self.by | _known(grouped.values()), whole)
                self.origin = grouped | {call.name: None for call in calls}
            case DistinctStep():
                self._need("DISTINCT", _known(self.origin.values()), "compares rows of all kinds")
            case Compute(items=items):
                self.origin |= {item.name: None for item in items}
            case SubqueryStep():
                self.window = None

    def _hold(self, window: WindowStep, rest: Sequence[Step]) -> None:
        """What a window needs by itself. A range of time needs no more than what is asked of its rows."""
        self.window, self.by = window, self._of(window.by)
        every_row = window.every == Size(1, is_time=False)
        if self._by_time() or (every_row and not _grouped(rest)):
            return
        counts = self.by & self._of(window.count_by)
        self._need(f"RANGE {_said(window.range)} every {_said(window.every)}", counts, "counts every row")

    def _by_time(self) -> bool:
        window = self.window
        every_row = window is not None and window.every == Size(1, is_time=False)
        return window is not None and window.range.is_time and not window.strict and (every_row or window.every.is_time)

    def _need(self, what: str, columns: frozenset[str], otherwise: str) -> None:
        self.found.append(Need(what if columns else f"{what} {otherwise}", columns))

    def _numbered(self, trees: Iterable[Tree]) -> None:
        if any(NUMBER in marks_of(tree) for tree in trees):
            self._need(NUMBER, frozenset(), "counts every row")

    def _named(self, items: Iterable[NamedTree]) -> dict[str, str | None]:
        return {item.name: self.origin.get(item.tree[1]) if item.tree[0] == "column" else None for item in items}

    def _of(self, names: Iterable[str]) -> frozenset[str]:
        return _known(self.origin.get(name) for name in names)


def _known(names: Iterable[str | None]) -> frozenset[str]:
    return frozenset(name for name in names if name is not None)


def _grouped(steps: Sequence[Step]) -> bool:
    """Whether an aggregate or DISTINCT reads what the window before these steps holds."""
    first = next((step for step in steps if not isinstance(step, FilterStep | ProjectStep)), None)
    return isinstance(first, AggregateStep | DistinctStep)


def _said(length: Size) -> str:
    """A length as people say it.

    >>> _said(Size(60_000_000, True)), _said(Size(1, False))
    ('60 seconds', '1 tuple')
    """
    if not length.is_time:
        return f"{length.amount} tuple{'s' * (length.amount > 1)}"
    whole, rest = divmod(length.amount, 1_000_000)
    return f"{length.amount / 1_000_000:g} seconds" if rest else f"{whole} seconds"
