"""The decision which views of a script are kept by a query of their own, and why others are computed inline."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from slackwater.algebra.catalog import Pipeline, ViewDef
from slackwater.algebra.checks import check_final
from slackwater.algebra.nodes import Emit, Plan, emits_changes
from slackwater.algebra.properties.columns import schema_of
from slackwater.errors import QueryError
from slackwater.rewrite import rewrite
from slackwater.spark.planner.fused.fuse import describe
from slackwater.spark.planner.obstacles import even, obstacles
from slackwater.spark.planner.ways import Host, way_of
from slackwater.spark.run.views.plans import kept_plan, over_logs, over_named_logs, views_in

ENOUGH = 2
"""The number of readers from which a view is kept without --views. Larger: more views are computed repeatedly."""
SIDES = "its late or rejected rows are read, which are those of the stream below the view"


@dataclass(frozen=True, slots=True)
class ViewReader:
    """A query that may read views. `name` is the name of a pipeline, or `view NAME`."""

    name: str
    plan: Plan


@dataclass(frozen=True, slots=True)
class KeptView:
    """A kept view: `plan` yields its rows with their times, `run` is this plan over the logs of other views.

    `readers` are the plans of its readers: their windows must also be closed when its streams end.
    """

    view: ViewDef
    plan: Plan
    run: Plan
    readers: tuple[Plan, ...] = ()

    @property
    def name(self) -> str:
        return f"view {self.view.name}"


@dataclass(frozen=True, slots=True)
class Sharing:
    """The kept views, each after those that it reads; the pipelines over them; and the notes about each query."""

    kept: tuple[KeptView, ...]
    pipelines: tuple[Pipeline, ...]
    notes: dict[str, tuple[str, ...]]


def share(
    views: Sequence[ViewDef], pipelines: Sequence[Pipeline], *, keep: bool = False, sides: Iterable[str] = ()
) -> Sharing:
    """Return which views are read from logs: those with two readers or more; with `keep`, all that can be kept.

    `pipelines` are optimised. `sides` names the pipelines whose late or rejected rows are read.
    """
    found = _Found(frozenset(sides), [ViewReader(each.name, each.plan) for each in pipelines])
    for number, view in reversed(list(enumerate(views))):
        found.decide(view, frozenset(each.name.lower() for each in views[: number + 1]), keep)
    kept = tuple(found.kept(view) for view in views if view.name.lower() in found.readings)
    return Sharing(
        kept,
        tuple(replace(each, plan=over_logs(each.plan, found.read_by(each.name))) for each in pipelines),
        {each.name: tuple(found.notes_on(each.name)) for each in found.readers},
    )


@dataclass(slots=True)
class _Found:
    """The decisions so far. The last view is decided first, because only later views can read an earlier one.

    `readings` has the readers of each kept view, `inline` the reason why a reader computes a view itself.
    """

    sides: frozenset[str]
    readers: list[ViewReader]
    readings: dict[str, frozenset[str]] = field(default_factory=dict)
    inline: dict[tuple[str, str], str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    def decide(self, view: ViewDef, open_views: frozenset[str], keep: bool) -> None:
        name, refusal = view.name.lower(), why_not_kept(view)
        asking = [
            each for each in self.readers if name in {seen.name.lower() for seen in views_in(each.plan, self.readings)}
        ]
        able = []
        for each in asking:
            why = refusal or (SIDES if each.name in self.sides else "")
            why = why or why_not_read(each.plan, view, open_views | self.readings.keys())
            if why:
                self.inline[each.name, view.name] = why
            else:
                able.append(each.name)
        if not refusal and (keep or len(able) >= ENOUGH):
            self.readings[name], self.names[name] = frozenset(able), view.name
            self.readers.append(ViewReader(f"view {view.name}", optimise_view(view)))
        else:
            self.inline.update({(each, view.name): "nobody else reads it" for each in able})

    def kept(self, view: ViewDef) -> KeptView:
        mine = f"view {view.name}"
        (plan,) = [each.plan for each in self.readers if each.name == mine]
        waiting = [
            each.plan for each in self.readers if view.name.lower() in {v.name.lower() for v in views_in(each.plan)}
        ]
        return KeptView(view, plan, over_logs(plan, self.read_by(mine)), tuple(waiting))

    def read_by(self, reader: str) -> frozenset[str]:
        return frozenset(view for view, readers in self.readings.items() if reader in readers)

    def notes_on(self, reader: str) -> Iterator[str]:
        yield from (f"reads view {self.names[view]}" for view in sorted(self.read_by(reader)))
        for (name, view), why in self.inline.items():
            if name == reader:
                yield f"computes view {view} itself: {why}"


def optimise_view(view: ViewDef) -> Plan:
    """Return the plan that keeps a view. It is optimised without other views, so that all scripts agree on it."""
    return rewrite(kept_plan(view.name, inside(view))).plan


def inside(view: ViewDef) -> Plan:
    return view.query.child if isinstance(view.query, Emit) else view.query


def why_not_kept(view: ViewDef) -> str:
    """Return why a view cannot be a query of its own, empty if it can."""
    query = inside(view)
    if schema_of(query).matching("row_time"):
        return "a column of it is named row_time, as the time is that its rows are kept with"
    if not even(query):
        return "its sides have boundaries of several slides"
    try:
        check_final(query)
        way_of(optimise_view(view))
    except QueryError as refused:
        return refused.problem.message
    return ""


def why_not_read(plan: Plan, view: ViewDef, logs: Collection[str]) -> str:
    """Return why a query cannot read a view from its log, empty if it can.

    The rows of a log are ordered by time. The order of rows with equal times is known only within the buckets of the
    fused operator that made them. A query that depends on this order must have the same buckets.
    """
    if emits_changes(plan):
        return "EMIT CHANGES follows the rows of the view through their lives"
    over = over_named_logs(plan, logs)
    obstacle = next(obstacles(over), None)
    if obstacle is None:
        return ""
    try:
        fused = way_of(optimise_view(view)).host is Host.FUSED and way_of(over).host is Host.FUSED
        if fused and describe(plan).columns == describe(optimise_view(view)).columns:
            return ""
    except QueryError as refused:
        return refused.problem.message
    return f"{obstacle.reason}, and the order of rows that the view yields at the same time is not kept"
