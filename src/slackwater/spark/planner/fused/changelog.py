"""From a plan under EMIT CHANGES to the tree of operators that computes its changelog.

What has no kernel is refused (SW-363), and what has no meaning (SW-243).
"""

from __future__ import annotations

from dataclasses import replace

from slackwater.algebra.checks import GATHERING
from slackwater.algebra.columns import schema_of
from slackwater.algebra.expressions import columns, parsed
from slackwater.algebra.finality import changing
from slackwater.algebra.instants import instants_of, is_jump
from slackwater.algebra.lengths import ONE_TUPLE
from slackwater.algebra.nodes import (
    Aggregate,
    Disorder,
    Distinct,
    Emit,
    Frequency,
    Join,
    Minus,
    Plan,
    Project,
    Scan,
    Select,
    Subquery,
    Union,
    View,
    Window,
    inputs,
    walk,
)
from slackwater.algebra.schema import PSEUDO_COLUMNS
from slackwater.spark.planner.fused.edges import Lowered, Node, edged, final, key_under, unique
from slackwater.spark.planner.fused.finality import SETS, leaf_of, one_stream, row_wise, unions
from slackwater.spark.planner.fused.lowering import chain_of, length, steps_over
from slackwater.spark.planner.fused.meeting import meeting
from slackwater.spark.planner.fused.relational import counted, joined, over, refused, uncountable
from slackwater.spark.planner.fused.sequence import in_sequence
from slackwater.spark.planner.fused.turns import in_turn

RELATIONAL = (*SETS, Select, Project, Aggregate, Distinct)
"""What is an operator of the tree also over windows at boundaries, if there are several streams."""


def changes_of(plan: Plan) -> Node:
    """The description of a query's changelog (kernels.changelog.tree, or .boundaries for windows with SLIDE)."""
    if instants_of(plan).at_boundaries and not changing(plan) and one_stream(plan):
        return _at_boundaries(plan)
    root = lowered(plan)
    wanted = result_names(plan)
    if wanted != root.names:
        fields = zip(wanted, root.names, schema_of(plan), strict=True)
        items = [[new, ["column", old], field.type] for new, old, field in fields]
        renamed = {"op": "project", "child": root.node, "items": items}
        root = edged(plan, renamed, wanted, [root.node])
    scans = {node.stream: node for node in walk(plan) if isinstance(node, Scan)}
    return {"inputs": {name: _input(scan) for name, scan in scans.items()}, "query": meeting(root.node)}


def result_names(plan: Plan) -> tuple[str, ...]:
    """The names of a changelog's columns: with the alias where the name alone is not unique."""
    return unique([schema_of(plan).reference(field) for field in schema_of(plan)])


def _at_boundaries(plan: Plan) -> Node:
    """An answer at a boundary stands until the next one: the chain of EMIT FINAL, and how long its results live."""
    (scan,) = [node for node in walk(plan) if isinstance(node, Scan)]
    key = key_under(plan, tuple(field.name for field in schema_of(plan)))
    return {"input": scan.stream, "chain": chain_of(plan), "slide": instants_of(plan).every.amount, "key": key}


def _input(scan: Scan) -> Node:
    return {
        "columns": [[field.name, field.type] for field in scan.fields],
        "time": scan.event_time,
        "arrival": scan.arrival,
        "change_type": scan.change_type,
        "key": list(scan.key),
    }


def lowered(plan: Plan, read: bool = False) -> Lowered:
    """The operator of a plan over those of its inputs; `read`: as its relation at the boundaries of what is above."""
    gathered, read = read, _stands(plan) and (read or isinstance(plan, GATHERING))
    apart = gathered and _counts_parts(plan)
    if _stands(plan) and not apart and (one_stream(plan) or not isinstance(plan, RELATIONAL)):
        if isinstance(plan, Window | Frequency) and not one_stream(plan):
            return _piped(plan, read)
        query = plan.query if isinstance(plan, Subquery | View) else plan
        return _chained(plan) if one_stream(query) else _streamed(plan, query, read)
    match plan:
        case Scan(stream=stream):
            names = tuple(field.name for field in plan.fields)
            return edged(plan, {"op": "source", "input": stream}, names, [])
        case Disorder(child=child) | Emit(child=child):
            return lowered(child, read)
        case Subquery(query=query) | View(query=query):
            return lowered(query) if changing(query) else _stream(plan, query)
        case Window(child=child, range=length, every=every) if length.is_time and every == ONE_TUPLE:
            below = lowered(child)
            return edged(plan, {"op": "window", "range": length.amount, "child": below.node}, below.names, [below.node])
        case Frequency(child=Window() as window) if is_jump(plan):
            return _counted(plan, window)
        case Window():
            return _counted(plan, plan)
        case Frequency():
            return _chained(plan) if one_stream(plan) else _piped(plan, read)
        case Select(child=Join() as join, condition=condition) if not _marks(condition.sql):
            return _joined(plan, join, _stands(plan))
        case Join():
            return _joined(plan, plan, read)
        case Aggregate() | Distinct() if read and not gathered and instants_of(plan).by and (leaf := leaf_of(plan)):
            return _chain_over(leaf, plan)  # each part has its own groups
        case Select() | Project() | Aggregate() | Distinct():
            return over(plan, plan.child, lowered(plan.child, read))
        case Union(left=left, right=right) | Minus(left=left, right=right):
            one, two = lowered(left, read), lowered(right, read)
            node = {"op": type(plan).__name__.lower(), "left": one.node, "right": two.node}
            return edged(plan, node, one.names, [one.node, two.node])
    raise refused(f"a {type(plan).__name__.lower()} of this kind has no changelog operator")


def _joined(plan: Plan, join: Join, read: bool) -> Lowered:
    return joined(plan, join, lowered(join.left, read), lowered(join.right, read))


def _counted(plan: Window | Frequency, window: Window) -> Lowered:
    if changing(window.child):
        raise uncountable()
    return counted(plan, window, lowered(window.child))


def _stands(plan: Plan) -> bool:
    """Whether an operator's results come at boundaries, and so stand until the next."""
    entry = isinstance(plan, Scan | Disorder | Emit)
    return not entry and instants_of(plan).at_boundaries and not changing(plan)


def _counts_parts(plan: Plan) -> bool:
    """Whether a query groups the last n rows of each part, which other windows are read with as a whole."""
    match plan:
        case Select(child=child) | Project(child=child):
            return _counts_parts(child)
        case Aggregate(child=child) | Distinct(child=child):
            window = instants_of(child).window
            return window is not None and not window.is_time and bool(instants_of(child).by)
    return False


def _marks(sql: str) -> bool:
    return any(name.lower() in PSEUDO_COLUMNS for name in columns(parsed(sql)))


def _stream(plan: Plan, query: Plan) -> Lowered:
    """A query with final answers as the stream of its rows; what looks at one row at a time is part of the tree."""
    if (plain := row_wise(query)) is not None:
        made = lowered(plain)
        return replace(made, node={**made.node, "subquery": True})
    return _chained(plan) if one_stream(query) else _streamed(plan, query)


def _streamed(plan: Plan, query: Plan, read: bool = False) -> Lowered:
    """The final answers of a query over several streams: what its operators yield, each from when it began on.

    Those that come at any time, for its sides have different slides, can be `read` at the boundaries of the first.
    """
    below = _emitted(query)
    made = final(plan, {"op": "stream", "child": below.node}, below.names)
    return _read(query, made) if read else made


def _read(query: Plan, given: Lowered) -> Lowered:
    """Answers read at boundaries; most come at these anyway."""
    if all(instants_of(each.left).every == instants_of(each.right).every for each in unions(query)):
        return given
    about = {"slide": given.node["lifetime"], "class": given.node["class"], "key": given.node["key"]}
    return replace(given, node={"op": "read", "child": given.node, **about})


def _piped(plan: Window | Frequency, read: bool) -> Lowered:
    """A window at boundaries, or a frequency, over the rows of several streams in their order."""
    if changing(plan):
        raise uncountable()
    match plan:
        case Frequency(child=Window() as window) if is_jump(plan):
            child, by = window.child, window.by or plan.by
            step = {"op": "window", "range": length(window.range), "strict": plan.strict}
        case Window(child=child, by=by):
            step = {"op": "window", "range": length(plan.range)}
        case Frequency(child=child, by=by):
            step = {"op": "frequency", "strict": plan.strict}
    below = lowered(child) if isinstance(child, Subquery | View) else _emitted(child)
    here = below.over(child)
    own, counts = ([here.find(reference).name for reference in each] for each in (by, plan.by))
    step |= {"every": length(plan.every), "by": own, "count_by": counts}
    made = final(plan, {"op": "pipe", "child": in_sequence(below.node), "steps": [step]}, below.names)
    return _read(plan, made) if read and step["op"] == "frequency" else made  # a window has boundaries of its own


def _chain_over(leaf: Subquery | View, query: Plan) -> Lowered:
    """What a query yields that is a chain but for the subquery that it reads: that of several streams."""
    if changing(query):
        raise uncountable()
    node = {"op": "pipe", "child": in_sequence(lowered(leaf).node), "steps": steps_over(query, leaf)}
    return final(query, node, tuple(field.name for field in schema_of(query)))


def _emitted(query: Plan) -> Lowered:
    """An operator whose tuples begin when a query over streams emits its rows."""
    match query:
        case _ if one_stream(query):
            return _stream(query, query)
        case Subquery(query=inner) | View(query=inner):
            return _emitted(inner)
        case Union(left=left, right=right):
            one, two = _emitted(left), _emitted(right)
            return edged(query, {"op": "union", "left": one.node, "right": two.node}, one.names, [one.node, two.node])
        case _ if not instants_of(query).at_boundaries and (leaf := leaf_of(query)) is not None:
            return lowered(plain) if (plain := row_wise(query)) is not None else _chain_over(leaf, query)
        case Select(child=child) | Project(child=child) if not isinstance(child, Join):
            return over(query, child, _emitted(child))
        case Select() | Project() | Join() if instants_of(query).at_rows and _counts(query):
            made = lowered(query)
            return replace(made, node=in_turn(made.node))
    return lowered(query)


def _counts(query: Plan) -> bool:
    """Whether rows of a query, its subqueries apart, leave when others come."""
    if isinstance(query, Scan | Subquery | View):
        return False
    own = isinstance(query, Window) and not query.range.is_time
    return own or any(map(_counts, inputs(query)))


def _chained(plan: Plan) -> Lowered:
    """The chain of a query over one stream; at boundaries its rows live until the next."""
    if changing(plan):
        raise uncountable()
    scan = next(node for node in walk(plan) if isinstance(node, Scan))
    names = tuple(field.name for field in schema_of(plan))
    return final(plan, {"op": "chain", "input": scan.stream, "chain": chain_of(plan)}, names)
