"""Divide a chain into stages with buckets of their own: which rows each step needs together, and where cuts pay.

Every step that looks at more than one row needs certain rows together: those of a group, of a part, or all. Buckets by
columns that all steps have in common keep these rows together.

If no columns serve all steps, a chain can be cut into stages: each runs in buckets by what its steps have in common,
and its results go on to the buckets of the next. The last stage may have one bucket. A stage behind one with a single
bucket would gain nothing. Such cuts are made on request, because a second operator costs a batch more than it saves
until one core has too much to do for a whole batch (docs/design/fused.md has the figures).

A chain is always cut where Spark has to compute a column between two of its steps. These stages have the same buckets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from slackwater.engine import plan as engine
from slackwater.engine.chain import Border, at_every_row, compiled, not_in_one
from slackwater.engine.columns.arrays import type_name
from slackwater.engine.columns.rows import ROW_NUMBER, ordering
from slackwater.spark.operator.entry import Entry
from slackwater.spark.planner.fused.instants import reads_number

CHAIN = "spark.slackwater.fused.chain"
"""The setting of a session by which plans are cut where no columns serve all steps."""


@dataclass(frozen=True, slots=True)
class Need:
    """The rows that a step needs together: those that agree in these columns of the input."""

    what: str
    columns: frozenset[str]

    def __str__(self) -> str:
        return f"{self.what} needs the rows of each {', '.join(sorted(self.columns))}" if self.columns else self.what


@dataclass(frozen=True, slots=True)
class Partitioning:
    """The columns that define buckets, in the input's order, and the reason. Without columns there is one bucket."""

    columns: tuple[str, ...]
    reason: str

    def __str__(self) -> str:
        where = f"in buckets by {', '.join(self.columns)}" if self.columns else "in one bucket"
        return f"{where}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Stages:
    """The partitioning of each stage of a chain, and the number of steps before each stage but the first.

    `computed` has the expressions that Spark evaluates between stages.
    """

    each: tuple[Partitioning, ...]
    cuts: tuple[int, ...] = ()
    computed: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[tuple[str, ...], ...]:
        """Return the columns of each stage's input that define its buckets."""
        return tuple(stage.columns for stage in self.each)

    def __str__(self) -> str:
        if self.computed:
            between = f"Spark computes {', '.join(self.computed)} between them"
            return f"{len(self.cuts) + 1} operators, since {between}; each {self.each[0]}"
        if len(self.each) == 1:
            return f"one operator, {self.each[0]}"
        told = ", then ".join(map(str, self.each))
        return f"{len(self.each)} operators in a chain, since no column serves all steps: {told}"


def with_expressions(found: Stages, entries: Iterable[Entry]) -> Stages:
    """Return stages as people read them, with the expressions of computed columns in place of their names."""
    texts = {item.name: item.expr.sql for entry in entries for item in entry.columns}

    def spell(each: Partitioning) -> Partitioning:
        columns = tuple(texts.get(name, name) for name in each.columns)
        return Partitioning(columns, re.sub(r"#\d+", lambda name: texts.get(name[0], name[0]), each.reason))

    return replace(found, each=tuple(map(spell, found.each)))


def expressions_of_spark(steps: Iterable[engine.Step]) -> tuple[str, ...]:
    """Return the expressions that Spark evaluates in these steps, each once."""
    return tuple(
        dict.fromkeys(item.tree[1] for step in steps if isinstance(step, engine.Compute) for item in step.items)
    )


def fewest_stages(chain: engine.Chain) -> Stages:
    """Return one stage if Spark computes nothing within the chain; the reason names the stages that there could be."""
    found = cut_stages(chain)
    if chain.computed or not found.cuts:
        return found
    one = partitioning(chain)
    return Stages((replace(one, reason=f"{one.reason}; SET {CHAIN} = true makes it {found}"),))


def cut_stages(chain: engine.Chain) -> Stages:
    """Return the stages of a chain: as few as possible, each as long as possible."""
    if chain.computed:
        _check_computed(chain)
        return Stages((partitioning(chain),), chain.computed, expressions_of_spark(chain.steps))
    one = partitioning(chain)
    if one.columns or len(chain.steps) < 2:
        return Stages((one,))
    why = ""
    for border in reversed(compiled(chain, ordered=True).borders[:-1]):
        first = partitioning(replace(chain, steps=chain.steps[: border.steps]))
        if not first.columns:
            continue
        why = _obstacle(border, chain.steps[border.steps :])
        if not why:
            rest = cut_stages(_rest_of(chain, border))
            cuts = (border.steps, *(border.steps + cut for cut in rest.cuts))
            return Stages((first, *rest.each), cuts)
    return Stages((replace(one, reason=f"{one.reason}; no chain of operators, since {why}") if why else one,))


def _check_computed(chain: engine.Chain) -> None:
    """Raise an error if Spark would have to compute a column between a window and its aggregate."""
    for place in chain.computed:
        before = [step for step in chain.steps[:place] if not isinstance(step, engine.ROW_WISE)]
        if before and isinstance(before[-1], engine.WindowStep) and _is_grouped(chain.steps[place:]):
            raise not_in_one(step for step in chain.steps if isinstance(step, engine.Compute))


def _obstacle(border: Border, rest: Sequence[engine.Step]) -> str:
    """Return why the steps after a border need more than rows in a known order; an empty text if they do not."""
    for step in rest:
        if isinstance(step, engine.SubqueryStep):
            break
        if isinstance(step, engine.DistinctStep):
            return "DISTINCT compares the rows of one instant"
        if reads_number(step):
            return "row_number counts the rows of all buckets"
    return "" if ordering(border.sample) else "the order of what the buckets would yield at one time is not known"


def _rest_of(chain: engine.Chain, border: Border) -> engine.Chain:
    """Return the steps after a border as a chain over the rows at the border."""
    columns = tuple((field.name, type_name(field.type)) for field in border.sample.batch.schema)
    return replace(chain, input=replace(chain.input, columns=columns), steps=chain.steps[border.steps :])


def partitioning(chain: engine.Chain) -> Partitioning:
    """Return the columns by which all steps of a chain can be partitioned."""
    needs = _Needs({name: name for name in chain.input.names}).of(chain.steps)
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
class _Needs:
    """Collects the needs of steps in order.

    `origin` has the column of the input that each column comes from. `window` holds the rows at this step, `by` its
    parts.
    """

    origin: dict[str, str | None]
    window: engine.WindowStep | None = None
    by: frozenset[str] = frozenset()
    found: list[Need] = field(default_factory=list)

    def of(self, steps: Sequence[engine.Step]) -> list[Need]:
        """Return the needs of all steps."""
        for number, step in enumerate(steps):
            self._add_step(step, steps[number + 1 :])
        return self.found

    def _add_step(self, step: engine.Step, rest: Sequence[engine.Step]) -> None:
        """Add the needs of a step, and follow the columns through it."""
        if not isinstance(step, engine.WindowStep) and reads_number(step):
            self._need(ROW_NUMBER, frozenset(), "counts every row")
        match step:
            case engine.ProjectStep(items=items):
                self.origin = self._origins(items)
            case engine.FrequencyStep(every=every, by=by, strict=False):
                self._need(f"FREQUENCY {_spell_size(every)}", self._inputs(by), "counts every row")
            case engine.WindowStep():
                self._add_window(step, rest)
            case engine.AggregateStep(group=group, calls=calls):
                grouped = self._origins(group)
                if self._holds_by_time():
                    whole = "is by expressions" if group else "of all rows"
                    self._need(
                        "GROUP BY" if group else "an aggregate", self.by | _without_none(grouped.values()), whole
                    )
                self.origin = grouped | {call.name: None for call in calls}
            case engine.DistinctStep():
                self._need("DISTINCT", _without_none(self.origin.values()), "compares rows of all kinds")
            case engine.Compute(items=items):
                self.origin |= {item.name: None for item in items}
            case engine.SubqueryStep():
                self.window = None

    def _add_window(self, window: engine.WindowStep, rest: Sequence[engine.Step]) -> None:
        """Add the needs of a window itself. A range of time has none: those above it say what they need of its rows."""
        self.window, self.by = window, self._inputs(window.by)
        if self._holds_by_time() or (at_every_row(window) and not _is_grouped(rest)):
            return
        counts = self.by & self._inputs(window.count_by)
        what = f"RANGE {_spell_size(window.range)} every {_spell_size(window.every)}"
        self._need(what, counts, "counts every row")

    def _holds_by_time(self) -> bool:
        """Return whether rows enter and leave the window whatever other rows do."""
        window = self.window
        if window is None or not window.range.is_time or window.strict:
            return False
        return at_every_row(window) or window.every.is_time

    def _need(self, what: str, columns: frozenset[str], otherwise: str) -> None:
        self.found.append(Need(what if columns else f"{what} {otherwise}", columns))

    def _origins(self, items: Iterable[engine.NamedTree]) -> dict[str, str | None]:
        """Return the column of the input that each item is, or None."""
        return {item.name: self.origin.get(item.tree[1]) if item.tree[0] == "column" else None for item in items}

    def _inputs(self, names: Iterable[str]) -> frozenset[str]:
        """Return the columns of the input that these columns are."""
        return _without_none(self.origin.get(name) for name in names)


def _without_none(names: Iterable[str | None]) -> frozenset[str]:
    """Return the names that are known."""
    return frozenset(name for name in names if name is not None)


def _is_grouped(steps: Sequence[engine.Step]) -> bool:
    """Return whether an aggregate or DISTINCT reads the rows of the window before these steps."""
    first = next((step for step in steps if not isinstance(step, engine.ROW_WISE)), None)
    return isinstance(first, engine.AggregateStep | engine.DistinctStep)


def _spell_size(size: engine.Size) -> str:
    """Return a size in words.

    >>> _spell_size(engine.Size(60_000_000, True)), _spell_size(engine.Size(1, False))
    ('60 seconds', '1 tuple')
    """
    if not size.is_time:
        return f"{size.amount} tuple{'s' * (size.amount > 1)}"
    whole, rest = divmod(size.amount, 1_000_000)
    return f"{size.amount / 1_000_000:g} seconds" if rest else f"{whole} seconds"
