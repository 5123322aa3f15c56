"""Normal forms of expressions that Spark SQL can write in several ways, and expressions that are refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp

from slackwater.algebra.aggregates import SKIPPING_NULLS
from slackwater.algebra.expressions import Tree

SYNONYMS: dict[str, type[exp.Func]] = {
    "mean": exp.Avg,
    "std": exp.Stddev,
    "every": exp.LogicalAnd,
    "some": exp.LogicalOr,
}
REFORMED = (exp.Anonymous, exp.Filter, exp.WithinGroup, exp.Paren, exp.Dot)
"""The nodes that `normalise` may change."""


def normal(tree: Tree) -> Tree:
    """Return the tree with every node in its normal form, from the leaves up. The argument is changed in place."""
    for node in reversed([each for each in tree.walk(bfs=False) if isinstance(each, REFORMED)]):
        tree = replace_node(tree, node, normalise(node))
    return tree


def replace_node(tree: Tree, node: Tree, new: Tree) -> Tree:
    """Return the tree with one of its nodes replaced by another."""
    if node is tree:
        return new
    if new is not node:
        node.replace(new)
    return tree


def normalise(node: Tree) -> Tree:
    """Return the normal form of a node: AVG(x) for MEAN(x), f(x)['y'] for f(x).y, no parentheses around a column."""
    match node:
        case exp.Anonymous() if len(node.expressions) == 1 and node.name.lower() in SYNONYMS:
            return SYNONYMS[node.name.lower()](this=node.expressions[0])
        case exp.Filter() if isinstance(node.this, SKIPPING_NULLS):
            return _filtered(node.this, node.expression.this)
        case exp.WithinGroup() if isinstance(node.this, exp.PercentileCont):
            return _percentile(node)
        case exp.Dot() if isinstance(node.expression, exp.Identifier):
            return exp.Bracket(this=node.this, expressions=[exp.Literal.string(node.expression.name)])
        case exp.Paren() if isinstance(node.this, (exp.Column, exp.Paren)):
            return node.this
        case _:
            return node


def _filtered(call: Tree, condition: Tree) -> Tree:
    """Turn AVG(x) FILTER (WHERE c) into AVG(CASE WHEN c THEN x END). In MAX_BY(x, y) the CASE is around y."""
    counted = call.this.expressions if isinstance(call.this, exp.Distinct) else [call.args.get("expression", call.this)]
    value = exp.Literal.number(1) if isinstance(counted[0], exp.Star) else counted[0].copy()
    counted[0].replace(exp.Case(ifs=[exp.If(this=condition, true=value)]))
    return call


def _percentile(node: exp.WithinGroup) -> Tree:
    """Turn PERCENTILE_CONT(p) WITHIN GROUP (ORDER BY x) into PERCENTILE(x, p). Sqlglot would write an approximation."""
    ordered = node.expression.expressions[0]
    return node if ordered.args.get("desc") else exp.Quantile(this=ordered.this, quantile=node.this.this)


@dataclass(frozen=True, slots=True)
class Foreign:
    """An expression that sqlglot parses but this language refuses."""

    kinds: tuple[type[exp.Expr], ...]
    what: str
    instead: str
    unless: Callable[[Tree], bool] = lambda _: False


def _not_called(*names: str) -> Callable[[Tree], bool]:
    return lambda node: node.name.lower() not in names


FOREIGN = (
    Foreign((exp.Query,), "a query inside an expression", "write it as a subquery in FROM and join it"),
    Foreign((exp.Window,), "OVER", "use a bracket at the stream: [RANGE ... SLIDE ...]"),
    Foreign(
        (exp.Placeholder, exp.Parameter, exp.SessionParameter),
        "a parameter",
        "write the value, or ${NAME} and --set NAME=value",
    ),
    Foreign((exp.Alias, exp.Aliases), "an alias inside an expression", "write it after the item"),
    Foreign(
        (exp.Explode, exp.Inline), "a function that yields several rows", "take rows apart before they enter the stream"
    ),
    Foreign(
        (exp.Anonymous,),
        "a function that yields several rows",
        "take rows apart before they enter the stream",
        _not_called("inline", "inline_outer", "stack", "json_tuple"),
    ),
    Foreign(
        (exp.Anonymous,),
        "Spark's window function",
        "use a bracket at the stream: [RANGE 5 minutes SLIDE 1 minute], and window_start, window_end",
        _not_called("window", "session_window", "window_time"),
    ),
    Foreign(
        (
            *(exp.CumeDist, exp.DenseRank, exp.Lag, exp.Lead, exp.Ntile),
            *(exp.NthValue, exp.PercentRank, exp.Rank, exp.RowNumber),
        ),
        "a ranking function",
        "use row_number, the position of the row, or a window in tuples",
    ),
    Foreign(
        (exp.Grouping, exp.GroupingId, exp.Cube, exp.Rollup, exp.GroupingSets),
        "grouping in several ways",
        "write one query for each grouping",
    ),
    Foreign(
        (exp.WithinGroup,), "WITHIN GROUP", "use PERCENTILE(column, share)", lambda node: normalise(node) is not node
    ),
    Foreign((exp.Cast,), "the type TIME", "use a timestamp", lambda node: not node.args["to"].is_type("time")),
    Foreign(
        (exp.ArgMin, exp.ArgMax),
        "MIN_BY or MAX_BY with one argument",
        "name the value and the column by which it is chosen: MAX_BY(speed, ts)",
        lambda node: bool(node.args.get("expression")),
    ),
    Foreign(
        (exp.ArgMin, exp.ArgMax),
        "MIN_BY or MAX_BY with a number of rows",
        "write MAX_BY(speed, ts): the value of one row",
        lambda node: node.args.get("count") is None,
    ),
    Foreign(
        (exp.ArgMin, exp.ArgMax),
        "DISTINCT in MIN_BY or MAX_BY",
        "leave it out: the answer is the same",
        lambda node: not isinstance(node.this, exp.Distinct),
    ),
    Foreign((exp.Dot,), "a field of a constant", "name a column", lambda node: not isinstance(node.this, exp.Literal)),
    Foreign((exp.Any,), "ANY as an aggregate", "use BOOL_OR", lambda node: isinstance(node.parent, exp.Binary)),
    Foreign(
        (exp.Star,),
        "* inside an expression",
        "only COUNT takes *: name the columns",
        lambda node: isinstance(node.parent, (exp.Count, exp.Column)),
    ),
    Foreign(
        (exp.In,),
        "IN without values",
        "write the values in parentheses: IN (1, 2)",
        lambda node: any(value for key, value in node.args.items() if key != "this"),
    ),
)


@lru_cache(maxsize=1024)
def foreign_to(kinds: tuple[type, ...]) -> tuple[Foreign, ...]:
    """Return the refused forms that a node of these kinds (its class and base classes) could have."""
    return tuple(each for each in FOREIGN if set(each.kinds) & set(kinds))
