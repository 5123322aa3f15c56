"""Random bound plans over the fixed catalog, as hypothesis strategies: every operator and every kind of window.

    @given(cases())
    def test(case): interpret(case.plan, case.feeds, flush=True)

    @given(seeded_cases())                 # ten times as quick, but failures are not shrunk
    def test(case): ...

    @pytest.mark.parametrize("seed", [17, 2_035])
    def test(seed): case = seeded_case(seed)

Plans are drawn in the canonical form of the binder (docs/design/algebra.md) and pass the checks of the algebra, so a
query could have each of them. `Shape` limits what is drawn:

    plans(Shape(instants=("boundaries",), joins=False))

Lengths are small multiples of `unit` ticks, like the times of `testing.streams`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from hypothesis import strategies as st

from slackwater.algebra.lengths import ONE_TUPLE, Kind, Length
from slackwater.algebra.nodes import (
    Disorder,
    Distinct,
    Emit,
    Frequency,
    Join,
    Minus,
    Mode,
    Plan,
    Policy,
    Project,
    Scan,
    Select,
    Subquery,
    Union,
    View,
    Window,
    walk,
)
from slackwater.semantics.feeds import Feed
from slackwater.testing.catalog import CATALOG
from slackwater.testing.choices import Choices, Drawn, Seeded, one_in
from slackwater.testing.streams import make_feeds
from slackwater.testing.terms import Terms, equality

Instants: TypeAlias = Literal["stream", "rows", "jumps", "boundaries", "sampled"]
"""stream: no window; rows: RANGE; jumps: FREQUENCY n TUPLES; boundaries: SLIDE or a time frequency; sampled: a
frequency without a window."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The features that a random plan may have."""

    streams: tuple[str, ...] = ("Readings", "Events", "Pulses")
    instants: tuple[Instants, ...] = ("stream", "rows", "jumps", "boundaries", "sampled")
    ranges: tuple[Kind, ...] = (Kind.TIME, Kind.TUPLES)
    partitioned: bool = True
    selects: bool = True
    aggregates: bool = True
    ordered: bool = True
    """Whether FIRST and LAST may be drawn, which depend on the order of rows."""
    distinct: bool = True
    joins: bool = True
    subqueries: bool = True
    views: bool = True
    """Whether a subquery may be a registered view."""
    sets: bool = True
    result_frequencies: bool = True
    strict: bool = True
    pushed: bool = True
    """Whether a frequency may already be inside the window (`Window.every`), where the rewrites put it."""
    sync: bool = True
    mode: Mode = Mode.FINAL
    unit: int = 1


@dataclass(frozen=True, slots=True)
class Case:
    """A plan, and feeds for the streams that it reads."""

    plan: Emit
    feeds: Mapping[str, Feed]


@st.composite
def cases(draw: st.DrawFn, shape: Shape | None = None, /, **options: Any) -> Case:
    """Draw a plan and feeds for its streams. The options are those of `testing.streams.make_feed`."""
    return make_case(Drawn(draw), shape or Shape(), **options)


def seeded_case(seed: int, shape: Shape | None = None, /, **options: Any) -> Case:
    """Return the case that follows from a seed: much quicker than drawing, for runs of thousands."""
    return make_case(Seeded(seed), shape or Shape(), **options)


def seeded_cases(shape: Shape | None = None, /, **options: Any) -> st.SearchStrategy[Case]:
    """Draw `seeded_case` of any seed. Failures are named by their seed, but not shrunk."""
    return st.integers(0, 2**40).map(lambda seed: seeded_case(seed, shape, **options))


@st.composite
def plans(draw: st.DrawFn, shape: Shape | None = None) -> Emit:
    """Draw a bound plan with an `Emit` root."""
    return Sketch(Drawn(draw), shape or Shape()).root()


def make_case(choices: Choices, shape: Shape, **options: Any) -> Case:
    plan = Sketch(choices, shape).root()
    names = sorted({node.stream for node in walk(plan) if isinstance(node, Scan)})
    return Case(plan, make_feeds(choices, names, unit=shape.unit, **options))


class Sketch:
    """Draws the parts of one plan. Aliases are counted, so that no two sources share one."""

    def __init__(self, choices: Choices, shape: Shape, aliases: int = 0) -> None:
        self.choices = choices
        self.shape = shape
        self.aliases = aliases

    @property
    def final(self) -> bool:
        return self.shape.mode is Mode.FINAL

    def root(self) -> Emit:
        kind = self.choices.one_of(self.shape.instants)
        chosen = self.choices.one_of(["no", "no", *self.set_operations(kind)])
        if chosen == "no":
            plan = self.query(kind)
        else:
            slide = self.slide()
            left, right = (self.side(kind, slide) for _ in range(2))
            plan = Union(left, right) if chosen == "union" else Minus(left, right)
        syncable = kind == "boundaries" and self.final and self.shape.sync
        return Emit(plan, self.shape.mode, sync=syncable and one_in(self.choices, 2))

    def set_operations(self, kind: Instants) -> list[str]:
        """Return the allowed set operations.

        EXCEPT is final at boundaries only, and needs the same instants on both sides.
        """
        minus = kind == "boundaries" or (not self.final and kind != "jumps")
        return [*["union"] * self.shape.sets, *["minus"] * (self.shape.sets and minus)]

    def side(self, kind: Instants, slide: Length) -> Plan:
        """Draw one side of a set operation: the same two columns whatever the stream."""
        plan = self.draw_filter(self.source(kind, slide))
        return Project(plan, Terms.over(plan).pair())

    def query(self, kind: Instants, depth: int = 1) -> Plan:
        """Draw a query whose instants are of one kind."""
        slide = self.slide()
        plan = self.draw_join(kind, slide) if self.joining(kind) else self.draw_source(kind, slide, depth)
        joined = isinstance(plan, Join)
        plan = self.draw_filter(plan)
        if self.aggregating(kind, joined):
            plan = self.draw_filter(Terms.over(plan).aggregate(self.choices, plan, self.shape.ordered))
        items = Terms.over(plan).items(self.choices)
        if self.distinct(kind):
            return self.draw_frequency(Distinct(Project(plan, items)))
        return Project(self.draw_frequency(plan), items)

    def draw_filter(self, plan: Plan) -> Plan:
        """Draw WHERE or HAVING, or neither."""
        if not self.shape.selects or not one_in(self.choices, 2):
            return plan
        return Select(plan, Terms.over(plan).condition(self.choices))

    def joining(self, kind: Instants) -> bool:
        return self.shape.joins and kind in ("stream", "rows", "boundaries") and one_in(self.choices, 4)

    def aggregating(self, kind: Instants, joined: bool) -> bool:
        """Draw whether the query groups; with EMIT FINAL only if every answer is final."""
        unfinal = kind in ("stream", "sampled") or (kind == "rows" and joined)
        return self.shape.aggregates and not (self.final and unfinal) and one_in(self.choices, 2)

    def distinct(self, kind: Instants) -> bool:
        final = kind in ("boundaries", "jumps")
        return self.shape.distinct and (final or not self.final) and one_in(self.choices, 5)

    def draw_frequency(self, plan: Plan) -> Plan:
        """Draw a frequency on the result, or none. Rows that may still change cannot be counted."""
        if not self.shape.result_frequencies or not self.final or not one_in(self.choices, 4):
            return plan
        return self.frequency(plan)

    def frequency(self, plan: Plan) -> Plan:
        """Draw a frequency over an operator that is not a window: it picks rows."""
        every = self.tuples(2, 4) if one_in(self.choices, 2) else self.times(2, 12)
        by = Terms.over(plan).partition(self.choices) if self.shape.partitioned else ()
        strict = self.shape.strict and every.is_time and one_in(self.choices, 3)
        return Frequency(plan, every, by, strict)

    def draw_join(self, kind: Instants, slide: Length) -> Plan:
        left, right = self.source(kind, slide), self.source(kind, slide)
        condition = equality(Terms.over(left), Terms.over(right)) if one_in(self.choices, 2) else None
        return Join(left, right, condition)

    def draw_source(self, kind: Instants, slide: Length, depth: int) -> Plan:
        """Draw a stream, or a subquery or view in its place."""
        if not (self.shape.subqueries and depth and one_in(self.choices, 4)):
            return self.source(kind, slide)
        inner = Sketch(self.choices, replace(self.shape, mode=Mode.FINAL), self.aliases)
        query = inner.query(self.choices.one_of(self.shape.instants), depth - 1)
        self.aliases = inner.aliases + 1
        alias = f"q{self.aliases}"
        view = self.shape.views and one_in(self.choices, 3)
        return self.draw_window(View(f"view_{alias}", alias, query) if view else Subquery(alias, query), kind, slide)

    def source(self, kind: Instants, slide: Length) -> Plan:
        name = self.choices.one_of(self.shape.streams)
        self.aliases += 1
        scan = CATALOG.fill(Scan(name, f"s{self.aliases}", (), ""))
        return self.draw_window(Disorder(scan, Policy()), kind, slide)

    def draw_window(self, stream: Plan, kind: Instants, slide: Length) -> Plan:
        """Draw RANGE and FREQUENCY over a stream, so that its instants are of the kind."""
        by: tuple[str, ...] = ()
        if self.shape.partitioned and one_in(self.choices, 4):
            by = (Terms.over(stream).key,)
        match kind:
            case "stream":
                return stream
            case "sampled":
                return self.frequency(stream)
            case "rows":
                return Window(stream, self.range(), by=by)
            case "jumps":
                return self.jumping(stream, self.range(), self.tuples(2, 4), by)
            case "boundaries":
                return self.jumping(stream, self.range(slide), slide, by)

    def jumping(self, stream: Plan, length: Length, every: Length, by: tuple[str, ...]) -> Plan:
        """Return the frequency over the window, or inside it."""
        if self.shape.pushed and one_in(self.choices, 2):
            return Window(stream, length, every, by)
        return Frequency(Window(stream, length, ONE_TUPLE), every, by)

    def range(self, slide: Length | None = None) -> Length:
        """Draw a range: a time shorter than the slide, equal to it or longer, or a few tuples."""
        kind = self.choices.one_of(self.shape.ranges)
        if kind is Kind.TUPLES:
            return self.tuples(1, 5)
        if slide is None:
            return self.times(1, 12)
        return self.choices.one_of([self.times(1, 12), slide, Length(slide.amount * 3, Kind.TIME)])

    def slide(self) -> Length:
        return self.times(2, 8)

    def times(self, least: int, most: int) -> Length:
        return Length(self.choices.between(least, most) * self.shape.unit, Kind.TIME)

    def tuples(self, least: int, most: int) -> Length:
        return Length(self.choices.between(least, most), Kind.TUPLES)
