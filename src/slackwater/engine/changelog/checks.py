"""Checks of a tree of operators before it is made into a kernel."""

from __future__ import annotations

from slackwater.engine.columns.rows import ROW_TIME
from slackwater.engine.expressions.evaluate import marks_of
from slackwater.engine.plan import Chained, Join, Node, Over, Query, Source, Window, ends, trees_of, walk
from slackwater.errors import QueryError


def check(query: Query) -> Query:
    """The query itself, or a QueryError that says what is wrong with it."""
    for node in walk(query.root):
        if isinstance(node, Source | Chained) and node.input not in query.inputs:
            raise malformed(f"there is no input {node.input!r}")
        if ends(node, query.inputs) and node.edge.level < 4:
            raise malformed(f"tuples of a {type(node).__name__.lower()} may be ended, but its class is not 4")
        match node:
            case Over(step=Window() as window) if not window.is_range and node.child.edge.level != 1:
                raise malformed("only the rows of a stream can be counted")
    refuse_marks(query.root)
    return query


def malformed(what: str) -> QueryError:
    return QueryError("SW-360", f"the tree of operators is not well formed: {what}", hint="let the planner make it")


def refuse_marks(root: Node) -> None:
    """Of the marks of an instant a tuple with a lifetime has its start, `row_time`, and no other."""
    for node in walk(root):
        trees = trees_of(node.step if isinstance(node, Over) else node) if isinstance(node, Over | Join) else []
        named = set().union(*map(marks_of, trees)) - (set() if isinstance(node, Join) else {ROW_TIME})
        if named:
            raise QueryError(
                "SW-361",
                f"'{sorted(named)[0]}' has no meaning for rows that may still change",
                expected="row_time, or the columns of the input",
                hint="use the event time column instead",
            )
