"""From a plan under EMIT CHANGES to the tree of operators that computes its changelog.

What has no kernel is refused (SW-363), and what has no meaning (SW-243).
"""

from __future__ import annotations

from dataclasses import replace

from slackwater.algebra import nodes as ops
from slackwater.algebra.checks import GATHERING
from slackwater.algebra.expressions import columns, parse_expr
from slackwater.algebra.lengths import ONE_TUPLE
from slackwater.algebra.nodes import Plan
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.properties.finality import changing
from slackwater.algebra.properties.instants import instants_of, is_jump
from slackwater.algebra.schema import PSEUDO_COLUMNS
from slackwater.engine.compile import not_in_one
from slackwater.engine.expressions.evaluate import marks_of
from slackwater.engine.plan import (
    ROW_WISE,
    Chained,
    Compute,
    DistinctStep,
    Edge,
    EnginePlan,
    FrequencyStep,
    MinusLogs,
    NamedTree,
    Over,
    Piped,
    ProjectStep,
    Read,
    Size,
    Source,
    Step,
    Streamed,
    SubqueryStep,
    UnionLogs,
    WindowStep,
    trees_of,
)
from slackwater.spark.planner.fused.edges import NO_EDGE, Lowered, edged, final, key_under, unique
from slackwater.spark.planner.fused.finality import SETS, leaf_of, one_stream, row_wise, unions
from slackwater.spark.planner.fused.instant import NUMBER, numbered, step_with_marks
from slackwater.spark.planner.fused.lowering import chain_of, input_of, length, steps_over
from slackwater.spark.planner.fused.meeting import meeting
from slackwater.spark.planner.fused.relational import counted, joined, over, refused, uncountable
from slackwater.spark.planner.fused.sequence import as_stream, in_sequence
from slackwater.spark.planner.fused.turns import in_turn

RELATIONAL = (*SETS, ops.Select, ops.Project, ops.Aggregate, ops.Distinct)
"""What is an operator of the tree also over windows at boundaries, if there are several streams."""


def changes_of(plan: Plan) -> EnginePlan:
    """The engine's plan of a query's changelog."""
    if instants_of(plan).at_boundaries and not changing(plan) and one_stream(plan) and not chain_of(plan).computed:
        return _at_boundaries(plan)
    root = lowered(plan)
    wanted = result_names(plan)
    if wanted != root.names:
        fields = zip(wanted, root.names, schema_of(plan), strict=True)
        items = tuple(NamedTree(new, ("column", old), field.type) for new, old, field in fields)
        root = edged(plan, Over(NO_EDGE, root.node, ProjectStep(items)), wanted)
    scans = {node.stream: node for node in ops.walk(plan) if isinstance(node, ops.Scan)}
    return EnginePlan({name: input_of(scan) for name, scan in scans.items()}, meeting(root.node))


def result_names(plan: Plan) -> tuple[str, ...]:
    """The names of a changelog's columns: with the alias where the name alone is not unique."""
    return unique([schema_of(plan).reference(field) for field in schema_of(plan)])


def _at_boundaries(plan: Plan) -> EnginePlan:
    """An answer at a boundary stands until the next one: the chain of EMIT FINAL, and how long its results live."""
    (scan,) = [node for node in ops.walk(plan) if isinstance(node, ops.Scan)]
    key = key_under(plan, tuple(field.name for field in schema_of(plan)))
    root = Chained(Edge(2, key), scan.stream, chain_of(plan), instants_of(plan).every.amount)
    return EnginePlan({scan.stream: input_of(scan)}, root)


def lowered(plan: Plan, read: bool = False) -> Lowered:
    """The operator of a plan over those of its inputs; `read`: as its relation at the boundaries of what is above."""
    gathered, read = read, _stands(plan) and (read or isinstance(plan, GATHERING))
    apart = gathered and _counts_parts(plan)
    if _stands(plan) and not apart and (one_stream(plan) or not isinstance(plan, RELATIONAL)):
        if isinstance(plan, ops.Window | ops.Frequency) and not one_stream(plan):
            return _piped(plan, read)
        query = plan.query if isinstance(plan, ops.Subquery | ops.View) else plan
        return _chained(plan) if one_stream(query) else _streamed(plan, query, read)
    match plan:
        case ops.Scan(stream=stream):
            names = tuple(field.name for field in plan.fields)
            return edged(plan, Source(NO_EDGE, stream), names)
        case ops.Disorder(child=child) | ops.Emit(child=child):
            return lowered(child, read)
        case ops.Subquery(query=query) | ops.View(query=query):
            return lowered(query) if changing(query) else _stream(plan, query)
        case ops.Window(child=child, range=length, every=every) if length.is_time and every == ONE_TUPLE:
            below = lowered(child)
            return edged(plan, Over(NO_EDGE, below.node, WindowStep(Size(length.amount, True))), below.names)
        case ops.Frequency(child=ops.Window() as window) if is_jump(plan):
            return _counted(plan, window)
        case ops.Window():
            return _counted(plan, plan)
        case ops.Frequency():
            return _chained(plan) if one_stream(plan) else _piped(plan, read)
        case ops.Select(child=ops.Join() as join, condition=condition) if not _marks(condition.sql):
            return _joined(plan, join, _stands(plan))
        case ops.Join():
            return _joined(plan, plan, read)
        case ops.Aggregate() | ops.Distinct() if (
            read and not gathered and instants_of(plan).by and (leaf := leaf_of(plan))
        ):
            return _chain_over(leaf, plan)  # each part has its own groups
        case ops.Select() | ops.Project() | ops.Aggregate() | ops.Distinct():
            return over(plan, plan.child, lowered(plan.child, read))
        case ops.Union(left=left, right=right) | ops.Minus(left=left, right=right):
            one, two = lowered(left, read), lowered(right, read)
            kind = UnionLogs if isinstance(plan, ops.Union) else MinusLogs
            return edged(plan, kind(NO_EDGE, one.node, two.node), one.names)
    raise refused(f"a {type(plan).__name__.lower()} of this kind has no changelog operator")


def _joined(plan: Plan, join: ops.Join, read: bool) -> Lowered:
    return joined(plan, join, lowered(join.left, read), lowered(join.right, read))


def _counted(plan: ops.Window | ops.Frequency, window: ops.Window) -> Lowered:
    if changing(window.child):
        raise uncountable()
    return counted(plan, window, lowered(window.child))


def _stands(plan: Plan) -> bool:
    """Whether an operator's results come at boundaries, and so stand until the next."""
    entry = isinstance(plan, ops.Scan | ops.Disorder | ops.Emit)
    return not entry and instants_of(plan).at_boundaries and not changing(plan)


def _counts_parts(plan: Plan) -> bool:
    """Whether a query groups the last n rows of each part, which other windows are read with as a whole."""
    match plan:
        case ops.Select(child=child) | ops.Project(child=child):
            return _counts_parts(child)
        case ops.Aggregate(child=child) | ops.Distinct(child=child):
            window = instants_of(child).window
            return window is not None and not window.is_time and bool(instants_of(child).by)
    return False


def _marks(sql: str) -> bool:
    return any(name.lower() in PSEUDO_COLUMNS for name in columns(parse_expr(sql)))


def _stream(plan: Plan, query: Plan) -> Lowered:
    """A query with final answers as the stream of its rows; what looks at one row at a time is part of the tree."""
    if (plain := row_wise(query)) is not None:
        made = lowered(plain)
        return replace(made, node=replace(made.node, edge=replace(made.node.edge, subquery=True)))
    return _chained(plan) if one_stream(query) else _streamed(plan, query)


def _streamed(plan: Plan, query: Plan, read: bool = False) -> Lowered:
    """The final answers of a query over several streams: what its operators yield, each from when it began on.

    Those that come at any time, for its sides have different slides, can be `read` at the boundaries of the first.
    """
    below = _emitted(query)
    made = final(plan, Streamed(NO_EDGE, below.node), below.names)
    return _read(query, made) if read else made


def _read(query: Plan, given: Lowered) -> Lowered:
    """Answers read at boundaries; most come at these anyway."""
    if all(instants_of(each.left).every == instants_of(each.right).every for each in unions(query)):
        return given
    assert isinstance(given.node, Streamed | Piped)  # noqa: S101
    assert given.node.lifetime is not None  # noqa: S101
    return replace(given, node=Read(given.node.edge, given.node, given.node.lifetime))


def _piped(plan: ops.Window | ops.Frequency, read: bool) -> Lowered:
    """A window at boundaries, or a frequency, over the rows of several streams in their order."""
    if changing(plan):
        raise uncountable()
    made: WindowStep | FrequencyStep
    match plan:
        case ops.Frequency(child=ops.Window() as window) if is_jump(plan):
            child, by = window.child, window.by or plan.by
            made = WindowStep(length(window.range), length(plan.every), strict=plan.strict)
        case ops.Window(child=child, by=by):
            made = WindowStep(length(plan.range), length(plan.every))
        case ops.Frequency(child=child, by=by):
            made = FrequencyStep(length(plan.every), strict=plan.strict)
    below = lowered(child) if isinstance(child, ops.Subquery | ops.View) else _emitted(child)
    here = below.over(child)
    own, counts = (tuple(here.find(reference).name for reference in each) for each in (by, plan.by))
    step = replace(made, by=own, count_by=counts) if isinstance(made, WindowStep) else replace(made, by=own)
    piped = final(plan, Piped(NO_EDGE, in_sequence(below.node), (step,)), below.names)
    return _read(plan, piped) if read and isinstance(step, FrequencyStep) else piped  # a window has its own boundaries


def _chain_over(leaf: ops.Subquery | ops.View, query: Plan) -> Lowered:
    """What a query yields that is a chain but for the subquery that it reads: that of several streams."""
    if changing(query):
        raise uncountable()
    node = Piped(NO_EDGE, in_sequence(lowered(leaf).node), steps_over(query, leaf))
    return final(query, node, tuple(field.name for field in schema_of(query)))


def _emitted(query: Plan) -> Lowered:
    """An operator whose tuples begin when a query over streams emits its rows."""
    match query:
        case _ if one_stream(query):
            return _stream(query, query)
        case ops.Subquery(query=inner) | ops.View(query=inner):
            return _emitted(inner)
        case ops.Union(left=left, right=right):
            one, two = _emitted(left), _emitted(right)
            return edged(query, UnionLogs(NO_EDGE, one.node, two.node), one.names)
        case _ if not instants_of(query).at_boundaries and (leaf := leaf_of(query)) is not None:
            return lowered(plain) if (plain := row_wise(query)) is not None else _chain_over(leaf, query)
        case ops.Select(child=child) | ops.Project(child=child) if not isinstance(child, ops.Join):
            return over(query, child, _emitted(child))
        case ops.Select() | ops.Project() | ops.Join() if instants_of(query).at_rows and _counts(query):
            made = lowered(query)
            return replace(made, node=in_turn(made.node))
    return lowered(query)


def _counts(query: Plan) -> bool:
    """Whether rows of a query, its subqueries apart, leave when others come."""
    if isinstance(query, ops.Scan | ops.Subquery | ops.View):
        return False
    own = isinstance(query, ops.Window) and not query.range.is_time
    return own or any(map(_counts, ops.inputs(query)))


def _chained(plan: Plan) -> Lowered:
    """The chain of a query over one stream; at boundaries its rows live until the next."""
    if changing(plan):
        raise uncountable()
    scan = next(node for node in ops.walk(plan) if isinstance(node, ops.Scan))
    names = tuple(field.name for field in schema_of(plan))
    chain = chain_of(plan)
    end, *others = (*chain.computed, len(chain.steps))
    made = final(plan, Chained(NO_EDGE, scan.stream, replace(chain, steps=chain.steps[:end])), names)
    for next_end in others:
        made = _computed(plan, made, chain.steps[: end + 1], chain.steps[end:next_end])
        end = next_end
    return made


def _computed(plan: Plan, below: Lowered, before: tuple[Step, ...], steps: tuple[Step, ...]) -> Lowered:
    """The steps of a chain over columns that Spark computes: filters and lists row by row, the others in a pipe."""
    end = next((place for place, step in enumerate(steps) if not isinstance(step, ROW_WISE)), len(steps))
    edge, node, rest = replace(below.node.edge, key=None, subquery=False), below.node, steps[end:]
    for step in steps[:end]:
        assert isinstance(step, ROW_WISE)  # noqa: S101
        node = Over(edge, numbered(node) if _numbers(step) else node, step_with_marks(step, plan, NUMBER))
    if isinstance((*rest, None)[0], DistinctStep):
        rest = _distinct(before, rest)
    if rest in ((), (SubqueryStep(),)):
        return Lowered(replace(node, edge=replace(below.node.edge, subquery=bool(rest))), below.names)
    after = rest[1:] if isinstance(rest[0], SubqueryStep) else rest
    return final(plan, Piped(NO_EDGE, in_sequence(as_stream(node)), after), below.names)


def _distinct(before: tuple[Step, ...], steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """DISTINCT over what came at the last boundary; a row is an instant with one result, which nothing is equal to."""
    window = next(step for step in reversed(before) if isinstance(step, WindowStep))
    if window.every.is_time and not window.strict:
        return (WindowStep(window.every, window.every), *steps)
    if window.every == Size(1, False):
        return steps[1:]
    raise not_in_one(step for step in reversed(before) if isinstance(step, Compute))


def _numbers(step: Step) -> bool:
    return any("row_number" in marks_of(tree) for tree in trees_of(step))
