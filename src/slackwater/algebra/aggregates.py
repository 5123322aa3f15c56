"""Aggregate functions: who computes each, and what the rewrite rules may do with it.

An aggregate of Spark that is not listed is computed by Spark, or refused where the plan is fused, and it is not
rewritten.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp
from sqlglot.dialects.spark import Spark

ARGUMENT = "argument"
"""Stands for the type of the first argument."""


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    """What is known of one function. False and "" are always correct."""

    fused: str
    """Its name in the engine (`source_of` in `engine/operators/calls.py`)."""
    skips_nulls: bool = False
    """FILTER can be written as CASE: a row whose argument (of MIN_BY and MAX_BY the second) is NULL does not count."""
    unordered: bool = False
    """The result does not depend on the order of the rows."""
    mergeable: bool = False
    """The result can be computed by merging the results of consecutive parts."""
    type: str = ""
    """The type of the result, if sqlglot does not know it as Spark has it; ARGUMENT for the type of the argument."""


AGGREGATES: dict[type[exp.Expr], AggregateFunction] = {
    exp.Count: AggregateFunction("count", skips_nulls=True, unordered=True, mergeable=True),
    exp.Sum: AggregateFunction("sum", skips_nulls=True, unordered=True, mergeable=True),
    exp.Avg: AggregateFunction("avg", skips_nulls=True, unordered=True, mergeable=True),
    exp.Min: AggregateFunction("min", skips_nulls=True, unordered=True, mergeable=True),
    exp.Max: AggregateFunction("max", skips_nulls=True, unordered=True, mergeable=True),
    exp.First: AggregateFunction("first", mergeable=True),
    exp.AnyValue: AggregateFunction("first"),
    exp.Last: AggregateFunction("last", mergeable=True),
    exp.Stddev: AggregateFunction("stddev_samp"),
    exp.StddevSamp: AggregateFunction("stddev_samp"),
    exp.StddevPop: AggregateFunction("stddev_pop"),
    exp.Variance: AggregateFunction("var_samp"),
    exp.VariancePop: AggregateFunction("var_pop"),
    exp.LogicalAnd: AggregateFunction("bool_and"),
    exp.LogicalOr: AggregateFunction("bool_or"),
    exp.ArgMin: AggregateFunction("min_by", skips_nulls=True, type=ARGUMENT),
    exp.ArgMax: AggregateFunction("max_by", skips_nulls=True, type=ARGUMENT),
    exp.BitwiseAndAgg: AggregateFunction("bit_and", skips_nulls=True),
    exp.BitwiseOrAgg: AggregateFunction("bit_or", skips_nulls=True),
    exp.BitwiseXorAgg: AggregateFunction("bit_xor", skips_nulls=True),
}
"""The aggregate functions that the engine computes, too."""

FUSED: dict[type[exp.Expr], str] = {kind: known.fused for kind, known in AGGREGATES.items()}
SKIPPING_NULLS = tuple(kind for kind, known in AGGREGATES.items() if known.skips_nulls)
UNORDERED = tuple(kind for kind, known in AGGREGATES.items() if known.unordered)
MERGEABLE = tuple(kind for kind, known in AGGREGATES.items() if known.mergeable)
TYPES = {
    kind: Spark.EXPRESSION_METADATA[exp.Max] if known.type == ARGUMENT else {"returns": exp.DataType.build(known.type)}
    for kind, known in AGGREGATES.items()
    if known.type
}
"""How sqlglot is told the types of results. MAX is an example of a function with the type of its argument."""
