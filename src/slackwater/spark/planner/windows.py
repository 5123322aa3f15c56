"""Windows at boundaries with Spark's own operators: extents, and their rows once they are closed.

Every stateful operator here groups by BOUNDARY, which is marked as the column of the watermark. In batch N, Spark drops
rows of boundaries that batch N - 1 had passed, and returns rows of boundaries that batch N has passed: this is the rule
of the language. Another such operator can read the result in the same batch, with the same watermark.
"""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, VariantType

from slackwater.algebra.lengths import TICK
from slackwater.spark.relation import BOUNDARY, TIME, Relation, earlier, quote
from slackwater.spark.watermark.control import WATERMARKED

ROWS = "__rows"
WINDOW = "__window"


def with_extents(relation: Relation, length: int, slide: int, by: tuple[str, ...] = ()) -> Relation:
    """Return each row once for every extent [b - length, b) that contains it; boundaries b are multiples of `slide`."""
    relation = to_stream(relation)
    # Spark starts windows at multiples of the slide; here their *ends* must be multiples.
    overlap = slide <= length
    window = F.window(TIME, _ticks(length if overlap else slide), _ticks(slide), _ticks(-length % slide * overlap))
    df = relation.df.select("*", window.alias(WINDOW)).select("*", mark_watermark(F.col(f"{WINDOW}.end"))).drop(WINDOW)
    if not overlap:
        # Spark refuses windows with gaps: use windows of one slide, and drop the rows before the extent.
        df = df.where(F.col(TIME) >= F.expr(earlier(length)))
    parts = {f"__part_{number}": relation.spell(reference) for number, reference in enumerate(by)}
    df = df.select("*", *(F.col(quote(str(name))).alias(part) for part, name in parts.items()))
    return replace(relation, df=df, extent=length, complete=False, parts=tuple(parts))


def with_ticks(relation: Relation) -> Relation:
    """Return the rows of a stream as extents of one tick, so that each is held until the punctuation has passed it."""
    df = relation.df.where(F.col(TIME).isNotNull())
    df = df.select("*", mark_watermark(F.col(TIME) + F.expr(f"INTERVAL '{TICK}' MICROSECOND")))
    return replace(relation, df=df, extent=TICK)


def to_stream(relation: Relation) -> Relation:
    """Return rows as a stream. Rows of an extent get the time of its boundary minus one tick, and have no order."""
    if relation.extent is None:
        return relation
    df = relation.df.withColumn(TIME, F.expr(earlier(TICK))).select(TIME, *relation.columns())
    return Relation(df, relation.schema)


def closed_extents(relation: Relation) -> Relation:
    """Return the rows of every extent once it is closed."""
    if relation.complete:
        return relation
    if relation.extent is None:
        relation = with_ticks(relation)
    keys = [BOUNDARY, *relation.parts]
    if all(_groupable(relation.df.schema[name].dataType) for name in relation.names):
        # Count equal rows: the state of a group does not grow, and a boundary is spread over several tasks.
        counted = relation.df.groupBy(*keys, *relation.columns()).agg(F.count(F.lit(1)).alias(ROWS))
        df = counted.withColumn(ROWS, F.explode(F.expr(f"sequence(1, {ROWS})"))).drop(ROWS)
    else:
        gathered = relation.df.groupBy(*keys).agg(F.collect_list(F.struct(*relation.columns())).alias(ROWS))
        df = gathered.select(*keys, F.inline(ROWS))
    return replace(relation, df=df, order=(), complete=True)


def distinct(relation: Relation) -> Relation:
    """Return each row of an extent once."""
    keys = [BOUNDARY, *relation.parts]
    if relation.complete:
        return replace(relation, df=relation.df.dropDuplicates([*keys, *relation.names]))
    df = relation.df.groupBy(*keys, *relation.columns()).agg(F.count(F.lit(1)).alias(ROWS)).drop(ROWS)
    return replace(relation, df=df, order=(), complete=True)


def mark_watermark(boundary: Column) -> Column:
    """Return the column BOUNDARY with the metadata by which Spark knows the column of the watermark.

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
