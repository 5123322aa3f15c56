"""Translate a plan under EMIT CHANGES to the tree of operators that computes its changelog.

Parts of the plan with final answers are chains (`chains`). A plan for which the engine has no operator is refused
(SW-363), and so is one that has no meaning (SW-243).
"""

from __future__ import annotations

from dataclasses import replace

from slackwater.algebra import nodes as ops
from slackwater.algebra.checks import GATHERING
from slackwater.algebra.expressions import columns, conjunction, conjuncts, parse_expr
from slackwater.algebra.lengths import ONE_TUPLE
from slackwater.algebra.nodes import Plan
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.properties.finality import changing
from slackwater.algebra.properties.instants import instants_of, is_jump
from slackwater.algebra.schema import PSEUDO_COLUMNS
from slackwater.engine import plan as engine
from slackwater.spark.planner.fused.chains import (
    below_window,
    chain_of,
    find_instants,
    input_of,
    size_of,
    steps_over,
    unique_names,
    window_step,
)
from slackwater.spark.planner.fused.edges import NO_EDGE, NamedNode, key_under, with_edge, with_final_edge
from slackwater.spark.planner.fused.instants import NUMBER, number_rows, reads_number, step_with_bounds
from slackwater.spark.planner.fused.meetings import number_meetings
from slackwater.spark.planner.fused.order import pair_in_turns, place_rows, without_lifetimes
from slackwater.spark.planner.fused.relational import (
    build_counting_window,
    build_join,
    build_over,
    refusal,
    take_late_conditions,
    uncountable,
)

SETS = (ops.Join, ops.Union, ops.Minus)
"""Operators that read two inputs."""


def changes_of(plan: Plan) -> engine.EnginePlan:
    """Return the engine's plan of a query's changelog."""
    if _is_final_at_boundaries(plan) and is_one_stream(plan) and not chain_of(plan).computed:
        return _chain_at_boundaries(plan)
    root = _build(plan)
    wanted = result_names(plan)
    if wanted != root.names:
        fields = zip(wanted, root.names, schema_of(plan), strict=True)
        items = tuple(engine.NamedTree(new, ("column", old), field.type) for new, old, field in fields)
        root = with_edge(plan, engine.Over(NO_EDGE, root.node, engine.ProjectStep(items)), wanted)
    scans = {node.stream: node for node in ops.walk(plan) if isinstance(node, ops.Scan)}
    return engine.EnginePlan({name: input_of(scan) for name, scan in scans.items()}, number_meetings(root.node))


def result_names(plan: Plan) -> tuple[str, ...]:
    """Return the names of a changelog's columns: with the alias where the name alone is not unique."""
    return unique_names([schema_of(plan).reference(field) for field in schema_of(plan)])


def _chain_at_boundaries(plan: Plan) -> engine.EnginePlan:
    """Return the chain of EMIT FINAL, whose answer at a boundary is valid until the next one."""
    (scan,) = [node for node in ops.walk(plan) if isinstance(node, ops.Scan)]
    key = key_under(plan, _plain_names(plan))
    root = engine.Chained(engine.Edge(2, key), scan.stream, chain_of(plan), instants_of(plan).every.amount)
    return engine.EnginePlan({scan.stream: input_of(scan)}, root)


# which parts of a plan are final


def is_one_stream(plan: Plan) -> bool:
    """Return whether a plan is a chain over one stream."""
    nodes = ops.walk(plan)
    return sum(isinstance(node, ops.Scan) for node in nodes) == 1 and not any(isinstance(node, SETS) for node in nodes)


def _is_final_at_boundaries(plan: Plan) -> bool:
    """Return whether an operator's rows come at boundaries, and are valid until the next one."""
    return instants_of(plan).at_boundaries and not changing(plan)


def _row_wise(query: Plan) -> Plan | None:
    """Return a query of filters and lists without its window, which does not change the rows it yields; else None."""
    match query:
        case ops.Scan() | ops.Subquery() | ops.View():
            return query
        case ops.Disorder() | ops.Select() | ops.Project():
            below = _row_wise(ops.inputs(query)[0])
            return None if below is None else ops.with_inputs(query, (below,))
        case ops.Window(child=child, every=every) if every == ONE_TUPLE:
            return _row_wise(child)
    return None


def _leaf_of(plan: Plan) -> ops.Subquery | ops.View | None:
    """Return the subquery that a chain of operators reads; None if they read several inputs, or a stream."""
    match plan:
        case ops.Subquery() | ops.View():
            return plan
        case ops.Select() | ops.Project() | ops.Window() | ops.Frequency() | ops.Aggregate() | ops.Distinct():
            return _leaf_of(ops.inputs(plan)[0])
    return None


def _groups_counted_parts(plan: Plan) -> bool:
    """Return whether a query groups the last n rows of each part, which other windows are read with as a whole."""
    match plan:
        case ops.Select(child=child) | ops.Project(child=child):
            return _groups_counted_parts(child)
        case ops.Aggregate(child=child) | ops.Distinct(child=child):
            window = instants_of(child).window
            return window is not None and not window.is_time and bool(instants_of(child).by)
    return False


def _counts_rows(query: Plan) -> bool:
    """Return whether rows of a query leave when others come; its subqueries do not count."""
    if isinstance(query, ops.Scan | ops.Subquery | ops.View):
        return False
    own = isinstance(query, ops.Window) and not query.range.is_time
    return own or any(map(_counts_rows, ops.inputs(query)))


# operators of the tree


def _build(plan: Plan, read: bool = False) -> NamedNode:
    """Return the operator of a plan; with `read`, as its relation at the boundaries of the operator above."""
    gathered, one = read, is_one_stream(plan)
    stands = not isinstance(plan, ops.Scan | ops.Disorder | ops.Emit) and _is_final_at_boundaries(plan)
    read = stands and (read or isinstance(plan, GATHERING))
    if stands and not (gathered and _groups_counted_parts(plan)):
        if one:
            return _chain(plan)
        if isinstance(plan, ops.Window | ops.Frequency):
            return _pipe(plan, read)
        if isinstance(plan, ops.Subquery | ops.View):
            return _stream_of_several(plan, plan.query, read)
    match plan:
        case ops.Scan(stream=stream):
            return with_edge(plan, engine.Source(NO_EDGE, stream), tuple(field.name for field in plan.fields))
        case ops.Disorder(child=child) | ops.Emit(child=child):
            return _build(child, read)
        case ops.Subquery(query=query) | ops.View(query=query):
            return _build(query) if changing(query) else _stream(plan, query)
        case ops.Window(child=child, range=length, every=every) if length.is_time and every == ONE_TUPLE:
            below = _build(child)
            return with_edge(plan, engine.Over(NO_EDGE, below.node, engine.WindowStep(size_of(length))), below.names)
        case ops.Frequency() if not is_jump(plan):
            return _chain(plan) if one else _pipe(plan, read)
        case ops.Window() | ops.Frequency():
            child = below_window(plan)
            if changing(child):
                raise uncountable()
            return build_counting_window(plan, _build(child), one_stream=is_one_stream(child))
        case ops.Select(child=ops.Join() as join, condition=condition) if not _reads_instant(condition.sql):
            return _join(plan, join, stands)
        case ops.Join():
            return _join(plan, plan, read)
        case ops.Aggregate() | ops.Distinct() if (
            read and not gathered and instants_of(plan).by and (leaf := _leaf_of(plan))
        ):
            return _pipe_over(leaf, plan)  # each part has its own groups
        case ops.Select() | ops.Project() | ops.Aggregate() | ops.Distinct():
            return build_over(plan, plan.child, _build(plan.child, read))
        case ops.Union(left=left, right=right) | ops.Minus(left=left, right=right):
            one_side, other = _build(left, read), _build(right, read)
            kind = engine.UnionLogs if isinstance(plan, ops.Union) else engine.MinusLogs
            return with_edge(plan, kind(NO_EDGE, one_side.node, other.node), one_side.names)
    raise refusal(f"a {type(plan).__name__.lower()} of this kind has no changelog operator")


def _join(plan: Plan, join: ops.Join, read: bool) -> NamedNode:
    return build_join(plan, join, _build(join.left, read), _build(join.right, read))


def _reads_instant(sql: str) -> bool:
    """Return whether an expression reads an attribute of the instant."""
    return any(name.lower() in PSEUDO_COLUMNS for name in columns(parse_expr(sql)))


# queries with final answers


def _stream(plan: Plan, query: Plan) -> NamedNode:
    """Return the rows of a query as a stream. Filters and lists are operators of the tree, all else is a chain."""
    if (plain := _row_wise(query)) is not None:
        made = _build(plain)
        return replace(made, node=replace(made.node, edge=replace(made.node.edge, subquery=True)))
    return _chain(plan) if is_one_stream(query) else _stream_of_several(plan, query)


def _stream_of_several(plan: Plan, query: Plan, read: bool = False) -> NamedNode:
    """Return the rows of a query over several streams as a stream: each is valid from its start on.

    Rows that come at any time, because sides have different slides, can be `read` at the boundaries of the first side.
    """
    below = _build_emitted(query)
    made = with_final_edge(plan, engine.Streamed(NO_EDGE, below.node), below.names)
    return _read_at_boundaries(query, made) if read else made


def _read_at_boundaries(query: Plan, given: NamedNode) -> NamedNode:
    """Return answers as they are read at boundaries. Without unions of several slides they come at these anyway."""
    unions = [node for node in ops.walk(query) if isinstance(node, ops.Union)]
    if all(instants_of(each.left).every == instants_of(each.right).every for each in unions):
        return given
    assert isinstance(given.node, engine.Streamed | engine.Piped)  # noqa: S101
    assert given.node.lifetime is not None  # noqa: S101
    return replace(given, node=engine.Read(given.node.edge, given.node, given.node.lifetime))


def _pipe(plan: ops.Window | ops.Frequency, read: bool) -> NamedNode:
    """Return a window at boundaries, or a frequency, over the rows of several streams in their order."""
    if changing(plan):
        raise uncountable()
    child = below_window(plan)
    below = _build(child) if isinstance(child, ops.Subquery | ops.View) else _build_emitted(child)
    step = window_step(plan, below.columns_of(child))
    made = with_final_edge(plan, engine.Piped(NO_EDGE, place_rows(below.node), (step,)), below.names)
    # a window has boundaries of its own
    return _read_at_boundaries(plan, made) if read and isinstance(step, engine.FrequencyStep) else made


def _pipe_over(leaf: ops.Subquery | ops.View, query: Plan) -> NamedNode:
    """Return a query that is a chain over a subquery of several streams."""
    if changing(query):
        raise uncountable()
    below = _build(leaf)
    steps = find_instants(steps_over(query, leaf), below.names)
    end = _next_computed(steps)
    if not end:
        return _continue_chain(query, below.node, steps)
    made = with_final_edge(query, engine.Piped(NO_EDGE, place_rows(below.node), steps[:end]), _plain_names(query))
    return _continue_chain(query, made.node, steps[end:])


def _build_emitted(query: Plan) -> NamedNode:
    """Return an operator whose tuples begin when a query over streams emits its rows."""
    match query:
        case _ if is_one_stream(query):
            return _stream(query, query)
        case ops.Subquery(query=inner) | ops.View(query=inner):
            return _build_emitted(inner)
        case ops.Union(left=left, right=right):
            one, two = _build_emitted(left), _build_emitted(right)
            return with_edge(query, engine.UnionLogs(NO_EDGE, one.node, two.node), one.names)
        case _ if not instants_of(query).at_boundaries and (leaf := _leaf_of(query)) is not None:
            return _build(plain) if (plain := _row_wise(query)) is not None else _pipe_over(leaf, query)
        case ops.Select(child=child) | ops.Project(child=child) if not isinstance(child, ops.Join):
            return build_over(query, child, _build_emitted(child))
        case ops.Select() | ops.Project() | ops.Join() if instants_of(query).at_rows and _counts_rows(query):
            return _build_in_turns(query)
    return _build(query)


def _build_in_turns(query: ops.Select | ops.Project | ops.Join) -> NamedNode:
    """Return pairs of rows where a window counts rows. What Spark computes of pairs comes after the last join."""
    match query:
        case ops.Select(child=ops.Join() as join, condition=where) if not _reads_instant(where.sql):
            return _build_in_turns(replace(join, condition=conjunction((*conjuncts(join.condition), where))))
        case ops.Select(child=ops.Join() as join) | ops.Project(child=ops.Join() as join):
            return build_over(query, join, _build_in_turns(join))
    joins, late = take_late_conditions(query)
    made = _build(joins)
    made = replace(made, node=pair_in_turns(made.node))
    return build_over(ops.Select(joins, conjunction(late)), joins, made) if late else made


def _chain(plan: Plan) -> NamedNode:
    """Return the chain of a query over one stream; at boundaries its rows live until the next one."""
    if changing(plan):
        raise uncountable()
    scan = next(node for node in ops.walk(plan) if isinstance(node, ops.Scan))
    chain = chain_of(plan)
    steps = find_instants(chain.steps, chain.input.names)
    end = _next_computed(steps)
    made = with_final_edge(
        plan, engine.Chained(NO_EDGE, scan.stream, replace(chain, steps=steps[:end])), _plain_names(plan)
    )
    return _continue_chain(plan, made.node, steps[end:])


def _continue_chain(plan: Plan, node: engine.Node, steps: tuple[engine.Step, ...]) -> NamedNode:
    """Return the steps of a chain over operators of the tree, from columns that Spark computes on.

    Filters and lists are operators of the tree, the steps after them a pipe.
    """
    names = _plain_names(plan)
    if not steps:
        return NamedNode(node, names)
    end = next((place for place, step in enumerate(steps) if not isinstance(step, engine.ROW_WISE)), len(steps))
    own, edge = node.edge, replace(node.edge, key=None, subquery=False)
    for step in steps[:end]:
        assert isinstance(step, engine.ROW_WISE)  # noqa: S101
        node = engine.Over(
            edge, number_rows(node) if reads_number(step) else node, step_with_bounds(step, plan, NUMBER)
        )
    is_subquery = steps[end : end + 1] == (engine.SubqueryStep(),)
    rest = steps[end + is_subquery :]
    if not (next_end := _next_computed(rest)):
        return _continue_chain(plan, replace(node, edge=replace(own, subquery=is_subquery)), rest)
    piped = engine.Piped(NO_EDGE, place_rows(without_lifetimes(node)), rest[:next_end])
    return _continue_chain(plan, with_final_edge(plan, piped, names).node, rest[next_end:])


def _next_computed(steps: tuple[engine.Step, ...]) -> int:
    """Return the place of the first step in which Spark computes columns, or the end."""
    return next((place for place, step in enumerate(steps) if isinstance(step, engine.Compute)), len(steps))


def _plain_names(plan: Plan) -> tuple[str, ...]:
    return tuple(field.name for field in schema_of(plan))
