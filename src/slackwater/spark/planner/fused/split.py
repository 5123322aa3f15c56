"""Divide a plan between Spark, which evaluates expressions, and the engine, which runs operators with state.

Below the first operator that makes new rows, Spark computes every expression as a column before rows reach the engine.
WHERE becomes a condition of the scan, or a boolean column where rows must be counted before it. Above the last such
operator, Spark evaluates the select list and HAVING. The *core* is left: the same operators over columns, with
expressions only between two operators that have state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import count

from sqlglot import exp

from slackwater.algebra import nodes as ops
from slackwater.algebra.expressions import Tree, column_node, name_of, parse_expr, text, type_of
from slackwater.algebra.nodes import Item, Plan
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import PSEUDO_COLUMNS, UNKNOWN, Expr, Field
from slackwater.spark.operator.entry import Entry
from slackwater.spark.operator.kernel import COMPUTED
from slackwater.spark.planner.fused.after import After, after_of
from slackwater.spark.planner.fused.chains import ASKED, STAND_IN
from slackwater.spark.planner.fused.expressions import is_small, may_fail
from slackwater.spark.planner.fused.frames import (
    Frame,
    Guard,
    Origin,
    PlacedSource,
    Ref,
    column_of,
    expr_over,
    origin_of,
    reference_of,
    rewrite,
    rewrite_call,
    rewrite_condition,
)
from slackwater.spark.planner.narrow import covered_entries, references_of

Types = Mapping[str, Mapping[str, str]]
"""The types of each stream's columns as Spark has them."""


@dataclass(frozen=True, slots=True)
class Split:
    """The streams with the columns that Spark computes, the plan of the engine, and what Spark does afterwards."""

    entries: tuple[Entry, ...]
    core: Plan
    after: After | None = None

    @property
    def computed(self) -> tuple[str, ...]:
        """Return the expressions that Spark evaluates before rows reach the engine."""
        items = [item for entry in self.entries for item in entry.columns if item.name.startswith(COMPUTED)]
        return tuple(dict.fromkeys(item.expr.sql for item in items))

    def with_types(self, types: Types) -> Split:
        """Return the same with the types that Spark gives to the columns of the streams."""
        return replace(self, core=_with_types(self.core, types))


@lru_cache(maxsize=64)
def split(plan: Plan) -> Split:
    """Divide a plan. The core over the entries' rows, and then `after`, give the result of the plan."""
    divider = _Divider(plan)
    build, after = divider.finish(plan)
    return Split(*divider.narrow(build()), after)


@dataclass(slots=True)
class _Stream:
    """Collects what Spark computes of a stream: the conditions that its rows have to meet, and columns by their text.

    `may_drop` says whether rows that do not meet WHERE may be dropped before they are counted.
    """

    control: ops.Disorder
    may_drop: bool
    conditions: list[Expr] = field(default_factory=list)
    computed: dict[str, Item] = field(default_factory=dict)

    def column(self, tree: Tree) -> str:
        """Return the name of the column with the value of an expression over the stream; add it if it is new."""
        if isinstance(tree, exp.Column):
            return schema_of(self.control).find(name_of(tree)).name
        sql = text(tree)
        if sql not in self.computed:
            kind = type_of(tree, schema_of(self.control))
            self.computed[sql] = Item(f"{COMPUTED}{len(self.computed) + 1}", Expr(sql, kind))
        return self.computed[sql].name


class _Divider:
    """Divides a plan from its streams up: each operator is a frame, whose core is built when all columns are known."""

    def __init__(self, plan: Plan) -> None:
        self.numbers = count(1)
        controls = [node for node in ops.walk(plan) if isinstance(node, ops.Disorder)]
        numbered = _names_column(plan, "row_number")
        self.streams: dict[str, _Stream] = {}
        for control in controls:
            scan = _scan_of(control)
            once = sum(_scan_of(each).stream == scan.stream for each in controls) == 1
            may_drop = once and not numbered and scan.change_type is None
            self.streams.setdefault(scan.stream, _Stream(control, may_drop))

    def narrow(self, core: Plan) -> tuple[tuple[Entry, ...], Plan]:
        """Return the streams with the columns that operators of the core name, and the core over these columns."""
        kept = self._needed_columns(core)
        columns = {name: self._columns(each, kept[name]) for name, each in self.streams.items()}
        entries = (Entry(each.control, tuple(each.conditions), columns[name]) for name, each in self.streams.items())

        def fields(scan: ops.Scan) -> Iterable[Field]:
            return (Field(item.name, item.expr.type) for item in columns[scan.stream])

        return tuple(entries), _change_fields(core, fields)

    def _columns(self, stream: _Stream, kept: frozenset[str] | None) -> tuple[Item, ...]:
        """Return the columns of a stream, given and computed, whose names are `kept`."""
        plain = [
            Item(each.name, Expr(text(column_node(each.name)), each.type)) for each in _scan_of(stream.control).fields
        ]
        return tuple(item for item in [*plain, *stream.computed.values()] if kept is None or item.name.lower() in kept)

    def _needed_columns(self, core: Plan) -> dict[str, frozenset[str] | None]:
        """Return the columns of each stream that the core needs, in lower case; None for all."""
        hidden = list(covered_entries(core, _is_control))
        named = {name.rpartition(".")[2].lower() for node in ops.walk(core) for name in references_of(node)}
        kept: dict[str, frozenset[str] | None] = {}
        for control in (node for node in ops.walk(core) if isinstance(node, ops.Disorder)):
            scan = _scan_of(control)
            clocks = {name.lower() for name in (scan.event_time, scan.arrival, *scan.key) if name}
            whole = scan.change_type is not None or not any(each is control for each in hidden)
            kept[scan.stream] = None if whole or kept.get(scan.stream, "") is None else frozenset(named | clocks)
        return kept

    # the operators

    def frame(self, plan: Plan) -> Frame:
        """Return the frame of an operator."""
        match plan:
            case ops.Scan():
                return self._scan(plan)
            case ops.Disorder(child=child):
                below = self.frame(child)
                return replace(below, build=lambda: replace(plan, child=below.build()), bare=True)
            case ops.Window(child=child) | ops.Frequency(child=child):
                return self._pass_rows(plan, self.frame(child))
            case ops.Subquery(query=query) | ops.View(query=query):
                return self._subquery(plan, self.frame(query))
            case ops.Select(child=child):
                return self._select(plan, self.frame(child))
            case ops.Project():
                return self._project(plan, self.frame(plan.child))
            case ops.Aggregate():
                return self._aggregate(plan, self.frame(plan.child))
            case ops.Join():
                return self._join(plan)
            case ops.Distinct() | ops.Union() | ops.Minus():
                return _new_rows(plan, [_build_exactly(self.frame(each), each) for each in ops.inputs(plan)])
            case ops.Emit():
                raise AssertionError("an Emit is the root of a plan")

    def _scan(self, scan: ops.Scan) -> Frame:
        """Return the frame of a stream, to which columns that Spark computes can be added."""
        schema, stream, source = schema_of(scan), self.streams[scan.stream], PlacedSource(scan)
        origins = tuple(Origin(source, column_node(each.name)) for each in schema)
        refs = tuple(Ref((each.qualifier, each.name)) for each in schema)

        def ask(origin: Origin) -> Ref:
            return Ref((scan.alias, stream.column(origin.tree)))

        def build() -> Plan:
            computed = tuple(Field(item.name, item.expr.type) for item in stream.computed.values())
            return replace(scan, fields=scan.fields + computed)

        return Frame(schema, origins, origins, refs, {source: Guard()}, ask, build)

    def _pass_rows(self, plan: ops.Window | ops.Frequency, below: Frame) -> Frame:
        """Return the frame of a window or a frequency, which yields rows of its input as they are."""

        def build() -> Plan:
            child = below.build()
            by = [below.refs[place] for place in map(below.place, plan.by) if place is not None]
            return replace(plan, child=child, by=tuple(reference_of(schema_of(child), ref) for ref in by))

        return replace(below, build=build, bare=False)

    def _subquery(self, plan: ops.Subquery | ops.View, below: Frame) -> Frame:
        """Return the frame of a subquery. Columns that are asked of it are added to the list of its query."""
        schema = schema_of(plan)
        source = PlacedSource(plan)
        asked: dict[str, str] = {}

        def ask(origin: Origin) -> Ref:
            if origin.source is not source:
                return Ref((plan.alias, below.ask(origin)[1]))
            sql = text(origin.tree.transform(inside))
            return Ref((plan.alias, asked.setdefault(sql, f"{ASKED}{next(self.numbers)}")))

        def inside(node: Tree) -> Tree:
            """Return a column of the subquery as its query has it."""
            return column_node(below.refs[schema.names.index(node.name)][1]) if isinstance(node, exp.Column) else node

        def build() -> Plan:
            query = below.build()
            if asked:
                same = [Item(name, column_of(query, Ref(("", name)))) for name in schema_of(query).names]
                own = [Item(name, Expr(sql, type_of(parse_expr(sql), schema_of(query)))) for sql, name in asked.items()]
                query = ops.Project(query, (*same, *own))
            return replace(plan, query=query)

        refs = tuple(Ref((plan.alias, name)) for _, name in below.refs)
        near = tuple(Origin(source, column_node(each.name)) for each in schema)
        return Frame(schema, below.origins, near, refs, {**below.guards, source: Guard()}, ask, build)

    def _select(self, plan: ops.Select, below: Frame) -> Frame:
        """Return the frame of a filter. It is a condition of the scan if rows may be dropped there."""
        condition = plan.condition
        origin = origin_of(parse_expr(condition.sql), below)
        scan = None if origin is None else origin.source.plan
        stream = self.streams[scan.stream] if isinstance(scan, ops.Scan) else None
        if origin is not None and stream is not None and below.bare and stream.may_drop:
            stream.conditions.append(Expr(text(origin.tree), "boolean"))
            return below
        joins = isinstance(plan.child, ops.Join)
        written = rewrite_condition(condition, below) if joins else rewrite(parse_expr(condition.sql), below)
        near = origin_of(parse_expr(condition.sql), below, near=True)
        of = {each.source: each for each in (near, origin) if each is not None}
        guards = {source: guard.with_condition(of.get(source)) for source, guard in below.guards.items()}

        def build() -> Plan:
            child = below.build()
            return replace(plan, child=child, condition=expr_over(written, child, "boolean"))

        return replace(below, guards=guards, build=build, bare=False)

    def _project(self, plan: ops.Project, below: Frame) -> Frame:
        """Return the frame of a list. Columns that are asked of it are passed on from its input."""
        trees = [parse_expr(item.expr.sql) for item in plan.items]
        if below.bare and (places := _kept_places(plan, below)) is not None:
            known = [(below.origins[place], below.refs[place], below.near[place]) for place in places]
            origins, refs, near = zip(*known, strict=True)
            return replace(below, schema=schema_of(plan), origins=origins, refs=refs, near=near)
        written = [rewrite(tree, below) for tree in trees]
        origins = tuple(origin_of(tree, below) for tree in trees)
        more: dict[Ref, str] = {}

        def ask(origin: Origin) -> Ref:
            for item, known in zip(plan.items, origins, strict=True):
                if known is not None and known.source is origin.source and text(known.tree) == text(origin.tree):
                    return Ref(("", item.name))
            ref = below.ask(origin)
            if ref not in more:  # a name of its own: the other side of a join may have the same column
                more[ref] = f"{COMPUTED}p{next(self.numbers)}"
            return Ref(("", more[ref]))

        def build() -> Plan:
            child = below.build()
            own = _items_over(plan.items, written, child)
            passed = [Item(name, column_of(child, ref)) for ref, name in more.items()]
            return ops.Project(child, (*own, *passed))

        refs = tuple(Ref(("", item.name)) for item in plan.items)
        near = tuple(origin_of(tree, below, near=True) for tree in trees)
        return Frame(schema_of(plan), origins, near, refs, below.guards, ask, build, below.bare)

    def _aggregate(self, plan: ops.Aggregate, below: Frame) -> Frame:
        """Return the frame of an aggregate, whose groups and arguments are columns where Spark can compute them."""
        group = [rewrite(parse_expr(item.expr.sql), below) for item in plan.group]
        calls = [rewrite_call(parse_expr(item.expr.sql), below) for item in plan.aggregates]

        def build() -> Plan:
            child = below.build()
            own, made = _items_over(plan.group, group, child), _items_over(plan.aggregates, calls, child)
            return replace(plan, child=child, group=own, aggregates=made)

        return replace(_new_rows(plan, ()), build=build)

    def _join(self, plan: ops.Join) -> Frame:
        """Return the frame of a join, of which each side can be asked for columns."""
        left, right = self.frame(plan.left), self.frame(plan.right)

        def ask(origin: Origin) -> Ref:
            return (left if origin.source in left.guards else right).ask(origin)

        guards = {source: replace(each, exact=False) for source, each in (*left.guards.items(), *right.guards.items())}
        origins, near, refs = left.origins + right.origins, left.near + right.near, left.refs + right.refs
        both = Frame(schema_of(plan), origins, near, refs, guards, ask, lambda: plan)
        written = None if plan.condition is None else rewrite_condition(plan.condition, both)

        def build() -> Plan:
            made = replace(plan, left=left.build(), right=right.build())
            return made if written is None else replace(made, condition=expr_over(written, made, "boolean"))

        return replace(both, build=build)

    def finish(self, plan: Plan) -> tuple[Callable[[], Plan], After | None]:
        """Return a function that builds the core of a query, and what comes after the core; None if that is nothing."""
        base = plan.child if isinstance(plan, ops.Emit) else plan
        steps: list[ops.Select | ops.Project] = []
        while isinstance(base, ops.Select | ops.Project):
            steps.insert(0, base)
            base = base.child
        frame = self.frame(base)
        is_inside = _needs_small_expressions if ops.emits_changes(plan) else _is_condition_of_scan
        while steps and is_inside(steps[0], frame):
            step = steps.pop(0)
            frame = self._select(step, frame) if isinstance(step, ops.Select) else self._project(step, frame)
        if ops.emits_changes(plan) and not steps:
            exact = _build_exactly(frame, ops.inputs(plan)[0])
            return lambda: _under(plan, exact()), None
        after = after_of(steps, frame.schema)

        def build() -> Plan:
            child = frame.build()
            items = [Item(name, column_of(child, frame.refs[place])) for place, name in after.columns.items()]
            items += [Item(name, Expr(mark, PSEUDO_COLUMNS[mark])) for mark, name in after.marks.items()]
            return _under(plan, ops.Project(child, tuple(items)))

        return build, after


def _is_condition_of_scan(step: ops.Select | ops.Project, frame: Frame) -> bool:
    """Return whether a step leaves out rows of the stream before they are held, rather than rows of the result."""
    sampled = isinstance(step.child, ops.Frequency)
    return isinstance(step, ops.Select) and not sampled and origin_of(parse_expr(step.condition.sql), frame) is not None


def _needs_small_expressions(step: ops.Select | ops.Project, frame: Frame) -> bool:
    """Return whether the engine can evaluate a step above a changelog, given columns that Spark computes below.

    Then it knows which rows are equal before it works out the net change of a batch.
    """
    return all(_is_inside(parse_expr(expr.sql), frame) for expr in ops.expressions_of(step))


def _is_inside(tree: Tree, frame: Frame) -> bool:
    """Return whether an expression is small, or a column that Spark can compute below."""
    origin = None if isinstance(tree, exp.Column) else origin_of(tree, frame)
    if origin is None:
        return is_small(tree, frame.schema)
    failing = may_fail(origin.tree, schema_of(origin.source.plan))
    return not failing or frame.guards[origin.source].exact or is_small(tree, frame.schema)


def _items_over(items: Sequence[Item], trees: Sequence[Tree], child: Plan) -> tuple[Item, ...]:
    """Return items whose expressions are these, over the columns of an operator of the core."""
    pairs = zip(items, trees, strict=True)
    return tuple(Item(item.name, expr_over(tree, child, item.expr.type)) for item, tree in pairs)


def _kept_places(plan: ops.Project, below: Frame) -> list[int] | None:
    """Return the places of the columns that a list keeps as they are; None if it does anything else."""
    places = []
    for item in plan.items:
        tree = parse_expr(item.expr.sql)
        place = below.place(name_of(tree)) if isinstance(tree, exp.Column) else None
        if place is None or below.schema.fields[place].name != item.name:
            return None
        places.append(place)
    return places


def _new_rows(plan: Plan, below: Sequence[Callable[[], Plan]]) -> Frame:
    """Return the frame of an operator whose rows are not those of any scan, over these inputs."""
    schema = schema_of(plan)

    def ask(origin: Origin) -> Ref:
        raise AssertionError("an operator that makes new rows has no columns of the scan")

    refs = tuple(Ref((each.qualifier, each.name)) for each in schema)
    build = lambda: ops.with_inputs(plan, tuple(each() for each in below))  # noqa: E731
    nowhere = (None,) * len(schema)
    return Frame(schema, nowhere, nowhere, refs, {}, ask, build)


def _build_exactly(frame: Frame, plan: Plan) -> Callable[[], Plan]:
    """Return a function that builds an operator with no other columns than it has in the plan."""

    def build() -> Plan:
        made = frame.build()
        here = schema_of(made)
        if [(each.qualifier, each.name) for each in here] == [tuple(ref) for ref in frame.refs]:
            return made
        fields = zip(schema_of(plan), frame.refs, strict=True)
        return ops.Project(made, tuple(Item(each.name, column_of(made, ref)) for each, ref in fields))

    return build


def _scan_of(control: ops.Disorder) -> ops.Scan:
    assert isinstance(control.child, ops.Scan)  # noqa: S101
    return control.child


def _under(plan: Plan, child: Plan) -> Plan:
    """Return another plan under the root of a query."""
    return replace(plan, child=child) if isinstance(plan, ops.Emit) else child


def _is_control(plan: Plan) -> bool:
    return isinstance(plan, ops.Disorder)


def _names_column(plan: Plan, name: str) -> bool:
    """Return whether an expression of a plan has a column of that name."""
    return any(each.lower().rpartition(".")[2] == name for node in ops.walk(plan) for each in references_of(node))


def _change_fields(plan: Plan, fields: Callable[[ops.Scan], Iterable[Field]]) -> Plan:
    """Return a plan whose scans have other columns."""
    if isinstance(plan, ops.Scan):
        return replace(plan, fields=tuple(fields(plan)))
    return ops.with_inputs(plan, tuple(_change_fields(each, fields) for each in ops.inputs(plan)))


def _with_types(plan: Plan, types: Types) -> Plan:
    """Return a plan whose scans have these types, as far as they are known."""

    def fields(scan: ops.Scan) -> Iterable[Field]:
        known = types.get(scan.stream, {})
        return (Field(each.name, known.get(each.name, each.type), each.qualifier) for each in scan.fields)

    return _change_fields(plan, fields)


def with_stand_ins(plan: Plan) -> Plan:
    """Return a core whose columns all have types, to see whether it runs: STAND_IN where only Spark knows the type."""
    types = {
        node.stream: {each.name: STAND_IN for each in node.fields if each.type == UNKNOWN}
        for node in ops.walk(plan)
        if isinstance(node, ops.Scan)
    }
    return _with_types(plan, types)
