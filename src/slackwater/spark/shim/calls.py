"""Calls of Java objects of ours within Spark's generated code."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from slackwater.spark.shim.compiled import instance

NONE = -(2**63)
"""What a called object gets in the place of NULL."""


def call(session: SparkSession, operator: Any, *arguments: Column) -> Column:
    """Return the call of a `LongBinaryOperator` for each row, in Spark's generated code: nothing is boxed."""
    jvm: Any = session._jvm
    types, expressions = jvm.org.apache.spark.sql.types, jvm.org.apache.spark.sql.catalyst.expressions
    convert = getattr(getattr(jvm.org.apache.spark.sql.classic, "ExpressionUtils$"), "MODULE$")
    kind = types.ObjectType(jvm.java.lang.Class.forName("java.util.function.LongBinaryOperator"))
    given = [convert.expression(F.coalesce(each.cast("long"), F.lit(NONE))._jc) for each in arguments]
    invoked = expressions.objects.Invoke(
        expressions.Literal(operator, kind),
        "applyAsLong",
        types.DataTypes.LongType,
        jvm.PythonUtils.toSeq(given),
        jvm.PythonUtils.toSeq([]),
        False,  # NULL cannot come
        False,  # nor is it given
        False,  # it counts: it must be called once for each row
    )
    return Column(convert.column(invoked))


def places(session: SparkSession) -> tuple[Column, Column]:
    """Return the batch of a row and its place in the batch: by partition, then as Spark reads the rows of one.

    Spark's own `monotonically_increasing_id` is refused on streams.
    """
    operator = instance(session, "Places")
    batch, place = (call(session, operator, F.lit(which), F.lit(0)) for which in (0, 1))
    return batch, place
