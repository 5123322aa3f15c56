"""A stream `USING kafka`: its messages as rows with the declared columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from slackwater.algebra.catalog import KAFKA_COLUMNS, StreamDef
from slackwater.disorder.replay.trace import RAW
from slackwater.errors import InputError
from slackwater.spark.io.kafka.source import COLUMNS, VALUE, VALUES, Kafka
from slackwater.spark.io.mapping import MappedColumn, map_columns
from slackwater.spark.io.rejects import REASON, set_aside
from slackwater.spark.options import Options
from slackwater.spark.refusals import REFUSALS
from slackwater.spark.relation import quote
from slackwater.spark.shim.driver import look_up_format
from slackwater.spark.shim.workers import require_workers

PARSED = "__slackwater_value"
RAW_COLUMNS = {"kafka_timestamp": "timestamp", "kafka_partition": "partition", "kafka_offset": "offset"} | {
    "kafka_topic": "topic",
    "kafka_key": "key",
    "kafka_headers": "headers",
}
"""The names of a message's metadata in Spark's connector."""


def has_connector(session: SparkSession) -> bool:
    """Return whether Spark's own connector is present. It is a JAR that no Python package contains."""
    try:
        look_up_format(session, "kafka")
    except REFUSALS:
        return False
    return True


def read_kafka(session: SparkSession, stream: StreamDef) -> DataFrame:
    """Return the rows of a Kafka stream. Malformed messages become rows of NULLs (rejects.py)."""
    columns, options = map_columns(stream)
    values = {name[len(VALUE) :]: value for name, value in options.items() if name.lower().startswith(VALUE)}
    client = {name: value for name, value in options.items() if not name.lower().startswith(VALUE)}
    named = [each for each in columns if each.source.lower() in KAFKA_COLUMNS]
    parsed = [each for each in columns if each not in named]
    rows = _messages(session, client, [RAW_COLUMNS[each.source.lower()] for each in named])
    text = _parse(session, stream, parsed, values)
    metadata = [_metadata(each) for each in named]
    rows = rows.select(text.alias(PARSED), *metadata).select(f"{PARSED}.*", *[each.source for each in named])
    return set_aside(rows, [each.source for each in columns]).select(*(each.column for each in columns), RAW, REASON)


def _messages(session: SparkSession, options: Mapping[str, str], metadata: Sequence[str]) -> DataFrame:
    """Return the raw messages, from Spark's connector or from ours, with the same options."""
    if has_connector(session):
        return session.readStream.format("kafka").options(**options).load()
    source = Kafka(dict(options))  # before Spark opens it, which would report only one line of an error
    require_workers(session)
    session.dataSource.register(Kafka)
    schema = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items() if name in ("value", *metadata))
    rows = session.readStream.format(Kafka.name()).schema(schema).options(**options).load()
    source.streamReader(rows.schema)  # Spark would report an error only after the query has started
    return rows


def _metadata(column: MappedColumn) -> Column:
    return F.col(RAW_COLUMNS[column.source.lower()]).cast(column.read.type).alias(column.source)


def _parse(
    session: SparkSession, stream: StreamDef, columns: Sequence[MappedColumn], options: Mapping[str, str]
) -> Column:
    """Return the value of a message as a struct of the declared columns, with its text in RAW if it is malformed."""
    given = {name.lower(): value for name, value in options.items()}
    form = Options(VALUES, {f"{VALUE}{name}": value for name, value in given.items()})["value.format"]
    own = {name: value for name, value in options.items() if name.lower() not in ("format", "schema")}
    schema = ", ".join(f"{quote(each.read.name)} {each.read.type}" for each in columns)
    text, bad = F.col("value").cast("string"), {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": RAW}
    match form:
        case "json":
            return F.from_json(text, f"{schema}, {RAW} string", {**own, **bad})
        case "csv":
            return F.from_csv(text, f"{schema}, {RAW} string", {**own, **bad})
    return _avro(session, stream, columns, given.get("schema"), own)


def _avro(
    session: SparkSession,
    stream: StreamDef,
    columns: Sequence[MappedColumn],
    schema: str | None,
    options: Mapping[str, str],
) -> Column:
    from pyspark.sql.avro.functions import from_avro  # noqa: PLC0415

    try:
        look_up_format(session, "avro")
    except REFUSALS as cause:
        raise InputError(
            "SW-495",
            f"the stream '{stream.name}' has Avro messages, and this Spark session lacks its package for Avro",
            hint="--conf spark.jars.packages=org.apache.spark:spark-avro_2.13:VERSION",
        ) from cause
    if schema is None:
        raise InputError("SW-441", "source kafka needs the option 'value.schema'", hint="add the Avro schema as JSON")
    found = from_avro(F.col("value"), schema, {**options, "mode": "PERMISSIVE"})
    raw = F.when(found.isNull(), F.base64(F.col("value"))).alias(RAW)
    fields = [found.getField(each.read.name).cast(each.read.type).alias(each.read.name) for each in columns]
    return F.struct(*fields, raw)
