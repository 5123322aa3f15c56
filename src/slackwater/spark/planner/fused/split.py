"""Divide a plan between Spark and the engine: Spark evaluates expressions, the engine runs what has state.

Below the first operator that makes new rows, an expression is a column that Spark computes before rows reach the
engine. WHERE becomes a condition of the scan, or a boolean column where rows must be counted before it. Above the
last such operator, the select list and HAVING are Spark's as well. What is left is the core: the same operators over
columns, with expressions only between two operators that have state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import count

from sqlglot import exp

from slackwater.algebra import nodes as ops
from slackwater.algebra.expressions import Tree, column_node, columns, name_of, parse_expr, text, type_of
from slackwater.algebra.nodes import Item, Plan
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import PSEUDO_COLUMNS, UNKNOWN, Expr, Field, Schema
from slackwater.spark.operator.entry import Entry
from slackwater.spark.planner.fused.expressions import is_small, may_fail
from slackwater.spark.planner.fused.frames import (
    Frame,
    Origin,
    PlacedSource,
    Ref,
    column_of,
    compose,
    expr_over,
    guarded_by,
    reference_of,
    rewrite,
    rewrite_call,
    rewrite_condition,
)
from slackwater.spark.planner.fused.lowering import ASKED, STAND_IN
from slackwater.spark.planner.narrow import covered_entries

COMPUTED = "#"
"""The names of computed columns begin with this, so that no column of a stream is named so."""
Types = Mapping[str, Mapping[str, str]]
"""By stream, the types of its columns as Spark has them."""


@dataclass(frozen=True, slots=True)
class After:
    """What Spark does with the core's rows: filters and projections from the innermost on, over a schema.

    `columns` has for each column of the schema that is used its name in the core's rows, `marks` for each attribute
    of the instant.
    """

    steps: tuple[ops.Select | ops.Project, ...]
    columns: Mapping[int, str]
    marks: Mapping[str, str]
    schema: Schema


@dataclass(frozen=True, slots=True)
class Split:
    """The streams with what Spark computes of them, the plan that the engine runs, and what Spark does afterwards."""

    entries: tuple[Entry, ...]
    core: Plan
    after: After | None = None

    @property
    def computed(self) -> tuple[str, ...]:
        """The expressions that Spark evaluates before rows reach the engine."""
        items = [item for entry in self.entries for item in entry.columns if item.name.startswith(COMPUTED)]
        return tuple(dict.fromkeys(item.expr.sql for item in items))

    def with_types(self, types: Types) -> Split:
        """The same with the types that Spark gives to the columns of the streams."""
        return replace(self, core=_typed(self.core, types))


@lru_cache(maxsize=64)
def split(plan: Plan) -> Split:
    """Divide a plan; the result of the core, then of `after`, over the entries' rows is that of the plan."""
    divided = _Divided(plan)
    build, after = divided.finish(plan)
    core = build()
    return Split(divided.entries(core), divided.narrow(core), after)


@dataclass(slots=True)
class _Stream:
    """What is computed of a stream: the conditions that its rows have to meet, and columns by their text."""

    control: ops.Disorder
    may_drop: bool
    conditions: list[Expr] = field(default_factory=list)
    computed: dict[str, Item] = field(default_factory=dict)

    def column(self, tree: Tree) -> str:
        """The name of the column that has the value of an expression over the stream."""
        if isinstance(tree, exp.Column):
            return schema_of(self.control).find(name_of(tree)).name
        sql = text(tree)
        if sql not in self.computed:
            kind = type_of(tree, schema_of(self.control))
            self.computed[sql] = Item(f"{COMPUTED}{len(self.computed) + 1}", Expr(sql, kind))
        return self.computed[sql].name


class _Divided:
    def __init__(self, plan: Plan) -> None:
        self.numbers = count(1)
        controls = [node for node in ops.walk(plan) if isinstance(node, ops.Disorder)]
        numbered = _names(plan, "row_number")
        self.cuts = len(controls) == 1
        self.streams: dict[str, _Stream] = {}
        for control in controls:
            scan = _scan(control)
            once = sum(_scan(each).stream == scan.stream for each in controls) == 1
            may_drop = once and not numbered and scan.change_type is None
            self.streams.setdefault(scan.stream, _Stream(control, may_drop))

    def entries(self, core: Plan) -> tuple[Entry, ...]:
        """The streams as the core reads them."""
        kept = self._kept(core)
        return tuple(
            Entry(each.control, tuple(each.conditions), self._columns(each, kept[name]))
            for name, each in self.streams.items()
        )

    def narrow(self, core: Plan) -> Plan:
        """The core without columns that no operator names."""
        kept = self._kept(core)
        fields = {
            name: tuple(Field(item.name, item.expr.type) for item in self._columns(each, kept[name]))
            for name, each in self.streams.items()
        }
        return _with_fields(core, fields)

    def _columns(self, stream: _Stream, kept: frozenset[str] | None) -> tuple[Item, ...]:
        plain = [
            Item(each.name, Expr(text(column_node(each.name)), each.type)) for each in _scan(stream.control).fields
        ]
        return tuple(item for item in [*plain, *stream.computed.values()] if kept is None or item.name.lower() in kept)

    def _kept(self, core: Plan) -> dict[str, frozenset[str] | None]:
        """By stream, the columns that the core needs, in lower case; None for all."""
        hidden = list(covered_entries(core, _is_control))
        named = {name.rpartition(".")[2].lower() for node in ops.walk(core) for name in _references(node)}
        kept: dict[str, frozenset[str] | None] = {}
        for control in (node for node in ops.walk(core) if isinstance(node, ops.Disorder)):
            scan = _scan(control)
            clocks = {name.lower() for name in (scan.event_time, scan.arrival, *scan.key) if name}
            whole = scan.change_type is not None or not any(each is control for each in hidden)
            kept[scan.stream] = None if whole or kept.get(scan.stream, "") is None else frozenset(named | clocks)
        return kept

    # the operators

    def frame(self, plan: Plan) -> Frame:
        match plan:
            case ops.Scan():
                return self._scan(plan)
            case ops.Disorder(child=child):
                below = self.frame(child)
                return replace(below, build=lambda: replace(plan, child=below.build()), bare=True)
            case ops.Window(child=child) | ops.Frequency(child=child):
                return self._passed(plan, self.frame(child))
            case ops.Subquery(query=query) | ops.View(query=query):
                return self._named(plan, self.frame(query))
            case ops.Select(child=child):
                return self._selected(plan, self.frame(child))
            case ops.Project():
                return self._projected(plan, self.frame(plan.child))
            case ops.Aggregate():
                return self._aggregated(plan, self.frame(plan.child))
            case ops.Join():
                return self._joined(plan)
            case ops.Distinct(child=child):
                return _opaque(plan, (_exact(self.frame(child), child),))
            case ops.Union(left=left, right=right) | ops.Minus(left=left, right=right):
                return _opaque(plan, (_exact(self.frame(left), left), _exact(self.frame(right), right)))
            case ops.Emit():
                raise AssertionError("an Emit is the root of a plan")

    def _scan(self, scan: ops.Scan) -> Frame:
        schema, stream, source = schema_of(scan), self.streams[scan.stream], PlacedSource(scan)
        origins = tuple(Origin(source, column_node(each.name)) for each in schema)
        refs = tuple(Ref((each.qualifier, each.name)) for each in schema)

        def ask(origin: Origin) -> Ref:
            return Ref((scan.alias, stream.column(origin.tree)))

        def build() -> Plan:
            computed = tuple(Field(item.name, item.expr.type) for item in stream.computed.values())
            return replace(scan, fields=scan.fields + computed)

        return Frame(schema, origins, refs, {source: ()}, ask, build, near=origins)

    def _passed(self, plan: ops.Window | ops.Frequency, below: Frame) -> Frame:
        """An operator that yields rows of its input as they are."""

        def build() -> Plan:
            child = below.build()
            by = [below.refs[place] for place in map(below.place, plan.by) if place is not None]
            return replace(plan, child=child, by=tuple(reference_of(schema_of(child), ref) for ref in by))

        return replace(below, build=build, bare=False)

    def _named(self, plan: ops.Subquery | ops.View, below: Frame) -> Frame:
        schema = schema_of(plan)
        source = PlacedSource(plan)
        asked: dict[str, str] = {}

        def ask(origin: Origin) -> Ref:
            if origin.source is not source:
                return Ref((plan.alias, below.ask(origin)[1]))
            sql = text(origin.tree.transform(inside))
            return Ref((plan.alias, asked.setdefault(sql, f"{ASKED}{next(self.numbers)}")))

        def inside(node: Tree) -> Tree:
            """A column of the subquery as its query has it."""
            return column_node(below.refs[schema.names.index(node.name)][1]) if isinstance(node, exp.Column) else node

        def build() -> Plan:
            query = below.build()
            if asked:
                same = [Item(name, column_of(query, Ref(("", name)))) for name in schema_of(query).names]
                own = [Item(name, Expr(sql, type_of(parse_expr(sql), schema_of(query)))) for sql, name in asked.items()]
                query = ops.Project(query, (*same, *own))
            return replace(plan, query=query)

        refs = tuple(Ref((plan.alias, name)) for _, name in below.refs)
        if not self.cuts:
            return Frame(schema, below.origins, refs, below.guards, ask, build)
        near = tuple(Origin(source, column_node(each.name)) for each in schema)
        return Frame(schema, below.origins, refs, {**below.guards, source: ()}, ask, build, near=near)

    def _selected(self, plan: ops.Select, below: Frame) -> Frame:
        condition = plan.condition
        origin = compose(parse_expr(condition.sql), below)
        scan = None if origin is None else origin.source.plan
        stream = self.streams[scan.stream] if isinstance(scan, ops.Scan) else None
        if origin is not None and stream is not None and below.bare and stream.may_drop:
            stream.conditions.append(Expr(text(origin.tree), "boolean"))
            return below
        joins = isinstance(plan.child, ops.Join)
        written = rewrite_condition(condition, below) if joins else rewrite(parse_expr(condition.sql), below)
        near = compose(parse_expr(condition.sql), below, near=True)
        of = {each.source: each for each in (near, origin) if each is not None}
        guards = {source: guarded_by(known, of.get(source), source) for source, known in below.guards.items()}

        def build() -> Plan:
            child = below.build()
            return replace(plan, child=child, condition=expr_over(written, child, "boolean"))

        return replace(below, guards=guards, build=build, bare=False)

    def _projected(self, plan: ops.Project, below: Frame) -> Frame:
        trees = [parse_expr(item.expr.sql) for item in plan.items]
        if below.bare and (places := _as_they_are(plan, below)) is not None:
            known = [(below.origins[place], below.refs[place], below.near[place]) for place in places]
            origins, refs, near = zip(*known, strict=True)
            return replace(below, schema=schema_of(plan), origins=origins, refs=refs, near=near)
        written = [rewrite(tree, below) for tree in trees]
        origins = tuple(compose(tree, below) for tree in trees)
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
            own = [
                Item(item.name, expr_over(tree, child, item.expr.type))
                for item, tree in zip(plan.items, written, strict=True)
            ]
            passed = [Item(name, column_of(child, ref)) for ref, name in more.items()]
            return ops.Project(child, (*own, *passed))

        refs = tuple(Ref(("", item.name)) for item in plan.items)
        near = tuple(compose(tree, below, near=True) for tree in trees)
        return Frame(schema_of(plan), origins, refs, below.guards, ask, build, below.bare, near)

    def _aggregated(self, plan: ops.Aggregate, below: Frame) -> Frame:
        group = [rewrite(parse_expr(item.expr.sql), below) for item in plan.group]
        calls = [rewrite_call(parse_expr(item.expr.sql), below) for item in plan.aggregates]

        def build() -> Plan:
            child = below.build()
            items = [
                tuple(
                    Item(item.name, expr_over(tree, child, item.expr.type))
                    for item, tree in zip(own, trees, strict=True)
                )
                for own, trees in ((plan.group, group), (plan.aggregates, calls))
            ]
            return replace(plan, child=child, group=items[0], aggregates=items[1])

        return replace(_opaque(plan, ()), build=build)

    def _joined(self, plan: ops.Join) -> Frame:
        sides = self.frame(plan.left), self.frame(plan.right)
        left, right = sides

        def ask(origin: Origin) -> Ref:
            return (left if origin.source in left.guards else right).ask(origin)

        guards = dict.fromkeys([*left.guards, *right.guards])
        both = Frame(
            schema_of(plan), left.origins + right.origins, left.refs + right.refs, guards, ask, lambda: plan, False
        )
        written = None if plan.condition is None else rewrite_condition(plan.condition, both)

        def build() -> Plan:
            made = replace(plan, left=left.build(), right=right.build())
            return made if written is None else replace(made, condition=expr_over(written, made, "boolean"))

        return replace(both, build=build)

    # what Spark does afterwards

    def finish(self, plan: Plan) -> tuple[Callable[[], Plan], After | None]:
        """The core of a query, and what comes after it; None if that is nothing."""
        base = plan.child if isinstance(plan, ops.Emit) else plan
        steps: list[ops.Select | ops.Project] = []
        while isinstance(base, ops.Select | ops.Project):
            steps.insert(0, base)
            base = base.child
        frame = self.frame(base)
        inside = _is_told_by_columns if ops.emits_changes(plan) else _is_condition_of_scan
        while steps and inside(steps[0], frame):
            step = steps.pop(0)
            frame = self._selected(step, frame) if isinstance(step, ops.Select) else self._projected(step, frame)
        if ops.emits_changes(plan) and not steps:
            exact = _exact(frame, ops.inputs(plan)[0])
            return lambda: _under(plan, exact()), None
        schema = frame.schema
        used, marks = _used(steps, schema)
        columns = {place: f"c{place}" for place in used}
        names = {mark: f"m_{mark}" for mark in marks}

        def build() -> Plan:
            child = frame.build()
            items = [Item(name, column_of(child, frame.refs[place])) for place, name in columns.items()]
            items += [Item(name, Expr(mark, PSEUDO_COLUMNS[mark])) for mark, name in names.items()]
            return _under(plan, ops.Project(child, tuple(items)))

        return build, After(tuple(steps), columns, names, schema)


def _is_condition_of_scan(step: ops.Select | ops.Project, frame: Frame) -> bool:
    """Whether a step leaves out rows of the stream before they are held, rather than rows of the result."""
    sampled = isinstance(step.child, ops.Frequency)
    return isinstance(step, ops.Select) and not sampled and compose(parse_expr(step.condition.sql), frame) is not None


def _is_told_by_columns(step: ops.Select | ops.Project, frame: Frame) -> bool:
    """Whether a changelog's rows need no more than columns and small expressions for a step.

    Then equal rows are told apart, or not, before the net change of a batch is worked out.
    """
    return all(_is_inside(parse_expr(expr.sql), frame) for expr in ops.expressions_of(step))


def _is_inside(tree: Tree, frame: Frame) -> bool:
    origin = None if isinstance(tree, exp.Column) else compose(tree, frame)
    if origin is None:
        return is_small(tree, frame.schema)
    failing = may_fail(origin.tree, schema_of(origin.source.plan))
    return not failing or frame.guards[origin.source] is not None or is_small(tree, frame.schema)


def _as_they_are(plan: ops.Project, below: Frame) -> list[int] | None:
    """The places of the columns that a projection leaves as they are; None if it does anything else."""
    places = []
    for item in plan.items:
        tree = parse_expr(item.expr.sql)
        place = below.place(name_of(tree)) if isinstance(tree, exp.Column) else None
        if place is None or below.schema.fields[place].name != item.name:
            return None
        places.append(place)
    return places


def _used(steps: Sequence[ops.Select | ops.Project], schema: Schema) -> tuple[list[int], list[str]]:
    """The columns of a schema and the attributes of the instant that steps over it name."""
    places: list[int] = []
    marks: list[str] = []
    here: Schema | None = schema
    for step in steps:
        for reference in _references(step):
            if here is not None and here.matching(reference):
                found = here.find(reference)
                places.append(next(place for place, each in enumerate(schema.fields) if each is found))
            elif reference.lower() in PSEUDO_COLUMNS and not (schema_of(step.child).matching(reference)):
                marks.append(reference.lower())
        here = None if isinstance(step, ops.Project) else here
    if here is not None:
        places = list(range(len(schema)))
    return sorted(set(places)), sorted(set(marks))


def _opaque(plan: Plan, below: Sequence[Callable[[], Plan]]) -> Frame:
    """An operator whose rows are not those of any scan."""
    schema = schema_of(plan)

    def ask(origin: Origin) -> Ref:
        raise AssertionError("an operator that makes new rows has no columns of the scan")

    refs = tuple(Ref((each.qualifier, each.name)) for each in schema)
    build = lambda: ops.with_inputs(plan, tuple(each() for each in below))  # noqa: E731
    return Frame(schema, (None,) * len(schema), refs, {}, ask, build)


def _exact(frame: Frame, plan: Plan) -> Callable[[], Plan]:
    """An operator with no other columns than it has in the plan."""

    def build() -> Plan:
        made = frame.build()
        here = schema_of(made)
        if [(each.qualifier, each.name) for each in here] == [tuple(ref) for ref in frame.refs]:
            return made
        fields = zip(schema_of(plan), frame.refs, strict=True)
        return ops.Project(made, tuple(Item(each.name, column_of(made, ref)) for each, ref in fields))

    return build


def _scan(control: ops.Disorder) -> ops.Scan:
    assert isinstance(control.child, ops.Scan)  # noqa: S101
    return control.child


def _under(plan: Plan, child: Plan) -> Plan:
    """Another plan under the root of a query."""
    return replace(plan, child=child) if isinstance(plan, ops.Emit) else child


def _is_control(plan: Plan) -> bool:
    return isinstance(plan, ops.Disorder)


def _references(plan: Plan) -> Iterable[str]:
    """The references that an operator makes to columns of its input."""
    for expr in ops.expressions_of(plan):
        yield from columns(expr)
    if isinstance(plan, ops.Window | ops.Frequency):
        yield from plan.by


def _names(plan: Plan, name: str) -> bool:
    """Whether an expression of a plan has a column of that name."""
    return any(each.lower().rpartition(".")[2] == name for node in ops.walk(plan) for each in _references(node))


def _with_fields(plan: Plan, fields: Mapping[str, tuple[Field, ...]]) -> Plan:
    if isinstance(plan, ops.Scan):
        return replace(plan, fields=fields[plan.stream])
    return ops.with_inputs(plan, tuple(_with_fields(each, fields) for each in ops.inputs(plan)))


def _typed(plan: Plan, types: Types) -> Plan:
    if isinstance(plan, ops.Scan):
        known = types.get(plan.stream, {})
        fields = (Field(each.name, known.get(each.name, each.type), each.qualifier) for each in plan.fields)
        return replace(plan, fields=tuple(fields))
    return ops.with_inputs(plan, tuple(_typed(each, types) for each in ops.inputs(plan)))


def with_stand_ins(plan: Plan) -> Plan:
    """A core whose columns all have types: what only Spark can type has another here, to see whether it can run."""
    types = {
        node.stream: {each.name: STAND_IN for each in node.fields if each.type == UNKNOWN}
        for node in ops.walk(plan)
        if isinstance(node, ops.Scan)
    }
    return _typed(plan, types)
