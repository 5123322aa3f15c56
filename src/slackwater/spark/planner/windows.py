"""Boundary windows with Spark's own operators: extents, and their rows once they are closed.

Every stateful operator here groups by BOUNDARY, which carries the mark of the watermark. In batch N Spark leaves out
what belongs to a boundary that batch N - 1 had passed, and yields what belongs to one that batch N has: the rule of
the language. What one such operator yields another can take in, in the same batch, with the same watermark.
"""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, VariantType

from slackwater.algebra.lengths import TICK
from slackwater.spark.relation import BOUNDARY, TIME, Relation, earlier, quoted
from slackwater.spark.watermark.control import WATERMARKED

ROWS = "__rows"
WINDOW = "__window"


def with_extents(relation: Relation, length: int, slide: int, by: tuple[str, ...] = ()) -> Relation:
    """Each row once for every extent [b - length, b) that it falls in; boundaries b are the multiples of `slide`."""
    relation = streamed(relation)
    # Spark starts windows at multiples of the slide; here the *ends* must be such.
    overlap = slide <= length
    window = F.window(TIME, _ticks(length if overlap else slide), _ticks(slide), _ticks(-length % slide * overlap))
    df = relation.df.select("*", window.alias(WINDOW)).select("*", marked(F.col(f"{WINDOW}.end"))).drop(WINDOW)
    if not overlap:
        # Extents with gaps between them, which Spark refuses: slots of one slide, of which only the end counts.
        df = df.where(F.col(TIME) >= F.expr(earlier(length)))
    parts = {f"__part_{number}": relation.spelled(reference) for number, reference in enumerate(by)}
    df = df.select("*", *(F.col(quoted(str(name))).alias(part) for part, name in parts.items()))
    return replace(relation, df=df, extent=length, complete=False, parts=tuple(parts))


def with_ticks(relation: Relation) -> Relation:
    """The rows of a stream as extents of one tick: a row has its place until the punctuation is beyond it."""
    df = relation.df.where(F.col(TIME).isNotNull())
    df = df.select("*", marked(F.col(TIME) + F.expr(f"INTERVAL '{TICK}' MICROSECOND")))
    return replace(relation, df=df, extent=TICK)


def streamed(relation: Relation) -> Relation:
    """Rows as a stream: those of an instant carry its time, the boundary minus one tick, and are in no order."""
    if relation.extent is None:
        return relation
    df = relation.df.withColumn(TIME, F.expr(earlier(TICK))).select(TIME, *relation.columns())
    return Relation(df, relation.schema)


def completed(relation: Relation) -> Relation:
    """The rows of every extent as they are, once the extent is closed."""
    if relation.complete:
        return relation
    if relation.extent is None:
        relation = with_ticks(relation)
    keys = [BOUNDARY, *relation.parts]
    if all(_groupable(relation.df.schema[name].dataType) for name in relation.names):
        # Equal rows are counted: nothing that is kept grows, and no boundary is in the hands of a single task.
        counted = relation.df.groupBy(*keys, *relation.columns()).agg(F.count(F.lit(1)).alias(ROWS))
        df = counted.withColumn(ROWS, F.explode(F.expr(f"sequence(1, {ROWS})"))).drop(ROWS)
    else:
        gathered = relation.df.groupBy(*keys).agg(F.collect_list(F.struct(*relation.columns())).alias(ROWS))
        df = gathered.select(*keys, F.inline(ROWS))
    return replace(relation, df=df, order=(), complete=True)


def distinct(relation: Relation) -> Relation:
    """Each row of an instant once."""
    keys = [BOUNDARY, *relation.parts]
    if relation.complete:
        return replace(relation, df=relation.df.dropDuplicates([*keys, *relation.names]))
    df = relation.df.groupBy(*keys, *relation.columns()).agg(F.count(F.lit(1)).alias(ROWS)).drop(ROWS)
    return replace(relation, df=df, order=(), complete=True)


def marked(boundary: Column) -> Column:
    """Return the column BOUNDARY with the mark by which Spark's operators know that the watermark is its own.

    Add it with `select`: Spark Connect loses the mark in `withColumn`.
    """
    return boundary.alias(BOUNDARY, metadata={WATERMARKED: 0})


def _groupable(kind: DataType) -> bool:
    match kind:
        case MapType() | VariantType():
            return False
        case ArrayType():
            return _groupable(kind.elementType)
        case StructType():
            return all(_groupable(field.dataType) for field in kind.fields)
        case _:
            return True


def _ticks(amount: int) -> str:
    return f"{amount} microseconds"
