"""Malformed rows: they are kept with their text and the reason, instead of failing the query or vanishing.

A row that does not fit the declaration becomes a row of NULLs. It has no event time in any column, so that controllers
count it as rejected.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import TimestampType

from slackwater.algebra.catalog import StreamDef
from slackwater.disorder.replay.trace import RAW
from slackwater.spark.io.mapping import MappedColumn
from slackwater.spark.relation import quote

REASON = "__slackwater_reason"
TEXTS = ("csv", "json")
"""Spark's formats that can put the text of a malformed row into a column."""
REPLAY = "replay"
NUL = "\u2400"
"""Replaces the character NUL in the text of a rejected row, because hardly any sink accepts NUL."""
UNTIMED = "it has no event time"
NOTHING = "nothing in it can be read"
REJECTED = "slackwater.rejected"
"""The prefix of the metric in Spark's progress that counts rejected rows by reason. The stream's name follows."""
EXAMPLE, MALFORMED = "example", "malformed"
"""Further fields of this metric: the text of one rejected row, and the number of malformed rows."""
MOST_COLUMNS = 100
"""The most columns for which the malformed rows without a value are counted. Larger: slower, one comparison per row."""
LONGEST = 200
"""The most characters of a rejected row that are shown."""


def sets_aside(stream: StreamDef) -> bool:
    """Return whether malformed rows of this stream go to its rejected rows.

    True for `replay`, and for text formats whose options do not say what to do with malformed rows.
    """
    options = {name.lower(): value for name, value in stream.options.items()}
    permissive = options.get("mode", "permissive").lower() == "permissive"
    return stream.format.lower() in (*TEXTS, REPLAY) and permissive and "columnnameofcorruptrecord" not in options


def observe_rejects(df: DataFrame, stream: StreamDef, columns: Sequence[MappedColumn]) -> DataFrame:
    """Return `df` with a metric that tells for each batch why rows of a stream are rejected, with one example.

    The metric counts the malformed rows in which nothing can be read, and for each column the others without a value in
    it. A row that is not malformed is rejected if it has no event time; the controllers count these.
    """
    has = {each.source: F.col(quote(each.source)).isNotNull() for each in columns}
    malformed, anything = F.col(RAW).isNotNull(), F.greatest(F.lit(False), *has.values())
    reasons = {NOTHING: malformed & ~anything}
    for each in columns[:MOST_COLUMNS]:
        reasons[f"no value for {each.source} {each.read.type.upper()}"] = malformed & anything & ~has[each.source]
    event = [each.column.isNull() for each in columns if each.field.name == stream.event_time]
    untimed = F.when(event[0], F.to_json(F.struct(*(F.col(quote(name)) for name in has)))) if event else F.lit(None)
    shown = F.substring(F.coalesce(F.col(RAW), untimed.cast("string")), 1, LONGEST)
    return df.observe(
        f"{REJECTED}.{stream.name}",
        F.first(shown, ignorenulls=True).alias(EXAMPLE),
        F.count(F.when(malformed, 1)).alias(MALFORMED),
        *(F.count(F.when(found, 1)).alias(reason) for reason, found in reasons.items()),
    )


def set_aside(df: DataFrame, names: Sequence[str]) -> DataFrame:
    """Return `df` with malformed rows as rows of NULLs, their text in RAW and the problem in REASON."""
    has = {name: F.col(quote(name)).isNotNull() for name in names}
    # Spark parses only the columns that a query needs, and notices no mistake in the others. So this asks for all of
    # them, with an expression that no rule of Spark's optimiser simplifies. A row without any value is all NULL anyway.
    whole = F.col(RAW).isNull() & F.greatest(F.lit(False), *has.values())
    lacking = F.array_join(F.array(*(F.when(~found, F.lit(name)) for name, found in has.items())), ", ")
    reason = F.when(F.col(RAW).isNotNull(), F.concat(F.lit("it is malformed: no value for "), lacking))
    values = [F.when(whole, F.col(quote(name))).alias(name) for name in names]
    return df.select(*values, F.col(RAW), reason.alias(REASON))


def rejected_rows(df: DataFrame, names: Sequence[str], event_time: str, at: Column) -> DataFrame:
    """Return the rejected rows of `df`: the reason, the text (JSON if the source has none), and the time."""
    bad = df.where(F.col(quote(event_time)).isNull())
    row = F.to_json(F.struct(*(F.col(quote(name)) for name in names)))
    told = {RAW: row, REASON: F.lit(UNTIMED)}
    raw, reason = (F.coalesce(F.col(each), other) if each in df.columns else other for each, other in told.items())
    shown = F.replace(raw, F.lit("\0"), F.lit(NUL))
    return bad.select(reason.alias("reason"), shown.alias("raw"), at.cast(TimestampType()).alias("rejected_at"))
