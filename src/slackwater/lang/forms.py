"""One form for what Spark SQL can say in several ways, so that plans name few functions."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from slackwater.algebra.expressions import Tree, is_aggregate

SYNONYMS: dict[str, type[exp.Func]] = {
    "mean": exp.Avg,
    "std": exp.Stddev,
    "every": exp.LogicalAnd,
    "some": exp.LogicalOr,
}
SKIPPING_NULLS = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max)
"""Aggregates for which a row that is filtered out and a row whose value is NULL are the same."""


def normal(tree: Tree) -> Tree:
    """A tree in which each of these has its one form; the tree given may be changed."""
    for form in (synonym, filter_to_case, percentile):
        tree = tree.transform(form, copy=False)
    return _unwrapped(tree)


def synonym(node: Tree) -> Tree:
    """MEAN(x) is AVG(x)."""
    made = SYNONYMS.get(node.name.lower()) if isinstance(node, exp.Anonymous) else None
    return made(this=node.expressions[0]) if made and len(node.expressions) == 1 else node


def filter_to_case(node: Tree) -> Tree:
    """AVG(x) FILTER (WHERE c) is AVG(CASE WHEN c THEN x END)."""
    if not isinstance(node, exp.Filter) or not isinstance(node.this, SKIPPING_NULLS):
        return node
    call, condition = node.this, node.expression.this
    counted = call.this.expressions if isinstance(call.this, exp.Distinct) else [call.this]
    value = exp.Literal.number(1) if isinstance(counted[0], exp.Star) else counted[0].copy()
    counted[0].replace(exp.Case(ifs=[exp.If(this=condition, true=value)]))
    return call


def percentile(node: Tree) -> Tree:
    """PERCENTILE_CONT(p) WITHIN GROUP (ORDER BY x) is PERCENTILE(x, p); sqlglot would write an approximation."""
    if not isinstance(node, exp.WithinGroup) or not isinstance(node.this, exp.PercentileCont):
        return node
    ordered = node.expression.expressions[0]
    return exp.Quantile(this=ordered.this, quantile=node.this.this) if not ordered.args.get("desc") else node


def _unwrapped(tree: Tree) -> Tree:
    """Parentheses around a single column say nothing."""

    def bare(node: Tree) -> Tree:
        while isinstance(node, exp.Paren) and isinstance(node.this, (exp.Column, exp.Paren)):
            node = node.this
        return node

    return tree.transform(bare, copy=False)


FOREIGN: tuple[tuple[Callable[[Tree], bool], str, str], ...] = (
    (
        lambda node: isinstance(node, exp.Query),
        "a query inside an expression",
        "write it as a subquery in FROM and join it",
    ),
    (lambda node: isinstance(node, exp.Window), "OVER", "use a bracket at the stream: [RANGE ... SLIDE ...]"),
    (
        lambda node: isinstance(node, (exp.Placeholder, exp.Parameter, exp.SessionParameter)),
        "a parameter",
        "write the value, or ${NAME} and --set NAME=value",
    ),
    (
        lambda node: isinstance(node, exp.Explode) or _called(node, "inline", "inline_outer", "stack", "json_tuple"),
        "a function that yields several rows",
        "take the rows apart before they enter the stream",
    ),
    (
        lambda node: isinstance(node, (exp.Alias, exp.Aliases)),
        "an alias inside an expression",
        "write it after the item",
    ),
    (
        lambda node: _called(node, "window", "session_window", "window_time"),
        "Spark's window function",
        "use a bracket at the stream: [RANGE 5 minutes SLIDE 1 minute], and window_start, window_end",
    ),
    (
        lambda node: isinstance(
            node,
            (
                exp.CumeDist,
                exp.DenseRank,
                exp.Lag,
                exp.Lead,
                exp.Ntile,
                exp.NthValue,
                exp.PercentRank,
                exp.Rank,
                exp.RowNumber,
            ),
        ),
        "a ranking function",
        "use row_number, the position of the row, or a window in tuples",
    ),
    (
        lambda node: isinstance(node, (exp.Grouping, exp.GroupingId, exp.Cube, exp.Rollup, exp.GroupingSets)),
        "grouping in several ways",
        "write one query for each grouping",
    ),
    (
        lambda node: isinstance(node, exp.In) and not any(v for k, v in node.args.items() if k != "this"),
        "IN without values",
        "write the values in parentheses: IN (1, 2)",
    ),
    (
        lambda node: isinstance(node, exp.WithinGroup) and is_aggregate(node) and percentile(node) is node,
        "WITHIN GROUP",
        "use PERCENTILE(column, share)",
    ),
    (
        lambda node: isinstance(node, exp.Any) and not isinstance(node.parent, exp.Binary),
        "ANY as an aggregate",
        "use BOOL_OR",
    ),
    (
        lambda node: isinstance(node, exp.Star) and not isinstance(node.parent, (exp.Count, exp.Column)),
        "* inside an expression",
        "name the columns",
    ),
)
"""What sqlglot reads and this language has no meaning for: a test, its name, what to do instead."""


def _called(node: Tree, *names: str) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.lower() in names
