"""The arguments of aggregate calls: each evaluated into one column, and what of it is summed."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from slackwater.engine.columns.rows import Rows
from slackwater.engine.expressions.evaluate import evaluate
from slackwater.engine.numbers.finish import finished
from slackwater.engine.numbers.tally import Argument, Tally
from slackwater.engine.plan import Tree
from slackwater.errors import QueryError

LEAST = {"min": True, "max": False, "bool_and": True, "bool_or": False}
"""The functions that are an extreme of their group, and whether it is the least."""
SQUARED = ("stddev_samp", "stddev_pop", "var_samp", "var_pop")


class Arguments:
    """The columns that calls over rows like `sample`, which has the columns and no rows, need."""

    def __init__(self, sample: Rows) -> None:
        self.trees: dict[str, Tree] = {}
        self.kinds: dict[str, pa.DataType] = {}
        self.counted: dict[str, Argument] = {}
        self._sample = sample

    def evaluated(self, rows: Rows) -> dict[str, pa.Array]:
        """All of them over rows."""
        return {name: evaluate(tree, rows) for name, tree in self.trees.items()}

    def column(self, tree: Tree) -> str:
        """The column that an argument is evaluated into; equal arguments share one."""
        known = {each: name for name, each in self.trees.items()}
        name = known.get(tree, f"a{len(self.trees)}")
        self.trees[name] = tree
        self.kinds[name] = evaluate(tree, self._sample).type
        return name

    def summed(self, function: str, name: str | None) -> Callable[[Tally], pa.Array]:
        """What reads the value of a function from sums; without a column it counts rows."""
        if name is None:
            return lambda sums: finished(function, sums, None, None)
        if function != "count" and pa.types.is_string(self.kinds[name]):
            raise not_here(f"{function} of text")
        known = self.counted.get(name, Argument(name))
        self.counted[name] = Argument(name, known.summed or function != "count", known.squared or function in SQUARED)
        place, kind = list(self.counted).index(name), self.kinds[name]
        return lambda sums: finished(function, sums, place, kind)


def not_here(what: str) -> QueryError:
    return QueryError(
        "SW-354",
        f"{what} cannot be computed in the fused operator",
        expected="count, count(distinct), sum, avg, min, max, first, last, stddev, variance",
        hint="use another aggregate, or compute it over what this query yields",
    )
