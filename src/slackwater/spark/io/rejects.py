"""Rows that cannot be read: kept beside the others, with their text and the reason, instead of failing or vanishing.

A row that is not what the declaration says comes as a row whose columns are all NULL. So it has no event time, in
whatever column a query looks for one, and whoever counts rows counts it as a row without one: rejected.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import TimestampType

from slackwater.algebra.catalog import StreamDef
from slackwater.disorder.replay.trace import RAW
from slackwater.spark.io.mapping import Mapped
from slackwater.spark.relation import quoted

REASON = "__slackwater_reason"
TEXTS = ("csv", "json")
"""Formats of Spark's that keep the text of a malformed row in a column of the reader's choice."""
REPLAY = "replay"
NUL = "\u2400"
"""How the character NUL is written in the text of a rejected row: hardly any sink would take the character itself."""
UNTIMED = "it has no event time"
NOTHING = "nothing in it can be read"
REJECTED = "slackwater.rejected"
"""The name, before that of the stream, under which Spark's progress tells why rows are rejected."""
EXAMPLE, MALFORMED = "example", "malformed"
"""Beside the reasons: the text of a rejected row, and how many are malformed."""
MOST_COLUMNS = 100
"""Columns of which it is counted how many malformed rows lack them: each costs every row a comparison."""
LONGEST = 200
"""Characters of a rejected row that are shown."""


def sets_aside(stream: StreamDef) -> bool:
    """Whether malformed rows of this stream can be told: a text format, unless its options say what to do with them.

    Our own `replay` tells them as well.
    """
    options = {name.lower(): value for name, value in stream.options.items()}
    permissive = options.get("mode", "permissive").lower() == "permissive"
    return stream.format.lower() in (*TEXTS, REPLAY) and permissive and "columnnameofcorruptrecord" not in options


def observe_rejects(df: DataFrame, stream: StreamDef, columns: Sequence[Mapped]) -> DataFrame:
    """Let Spark's progress tell, for each batch, why rows of a stream are rejected, and one of them.

    Of malformed rows it counts those in which nothing can be read, and for each column those that lack it. A row that
    is not malformed is rejected if it has no event time; the controllers count these.
    """
    has = {each.source: F.col(quoted(each.source)).isNotNull() for each in columns}
    malformed, anything = F.col(RAW).isNotNull(), F.greatest(F.lit(False), *has.values())
    reasons = {NOTHING: malformed & ~anything}
    for each in columns[:MOST_COLUMNS]:
        reasons[f"no value for {each.source} {each.read.type.upper()}"] = malformed & anything & ~has[each.source]
    event = [each.column.isNull() for each in columns if each.field.name == stream.event_time]
    untimed = F.when(event[0], F.to_json(F.struct(*(F.col(quoted(name)) for name in has)))) if event else F.lit(None)
    shown = F.substring(F.coalesce(F.col(RAW), untimed.cast("string")), 1, LONGEST)
    return df.observe(
        f"{REJECTED}.{stream.name}",
        F.first(shown, ignorenulls=True).alias(EXAMPLE),
        F.count(F.when(malformed, 1)).alias(MALFORMED),
        *(F.count(F.when(found, 1)).alias(reason) for reason, found in reasons.items()),
    )


def set_aside(df: DataFrame, names: Sequence[str]) -> DataFrame:
    """Malformed rows as rows of NULLs with their text in RAW and what is wrong in REASON."""
    has = {name: F.col(quoted(name)).isNotNull() for name in names}
    # Spark parses no more columns than are asked for, and notices no mistake in the others: so all are asked for,
    # by an expression that no rule of its optimiser takes apart. A row without any value is made of NULLs anyway.
    whole = F.col(RAW).isNull() & F.greatest(F.lit(False), *has.values())
    lacking = F.array_join(F.array(*(F.when(~found, F.lit(name)) for name, found in has.items())), ", ")
    reason = F.when(F.col(RAW).isNotNull(), F.concat(F.lit("it is malformed: no value for "), lacking))
    values = [F.when(whole, F.col(quoted(name))).alias(name) for name in names]
    return df.select(*values, F.col(RAW), reason.alias(REASON))


def rejected(df: DataFrame, names: Sequence[str], event_time: str, at: Column) -> DataFrame:
    """The rejected rows among `df`: why, their text (as JSON where the source has none), and when."""
    bad = df.where(F.col(quoted(event_time)).isNull())
    row = F.to_json(F.struct(*(F.col(quoted(name)) for name in names)))
    told = {RAW: row, REASON: F.lit(UNTIMED)}
    raw, reason = (F.coalesce(F.col(each), other) if each in df.columns else other for each, other in told.items())
    shown = F.replace(raw, F.lit("\0"), F.lit(NUL))
    return bad.select(reason.alias("reason"), shown.alias("raw"), at.cast(TimestampType()).alias("rejected_at"))
