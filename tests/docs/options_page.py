"""docs/sources-and-sinks.md from the tables that check options: `python -m tests.docs.options_page` writes it anew."""
# ruff: noqa: E501 (it holds the text of a page)

from __future__ import annotations

from pathlib import Path

from slackwater.spark.io.kafka.sink import TABLE as KAFKA_SINK
from slackwater.spark.io.kafka.source import TABLE as KAFKA_SOURCE
from slackwater.spark.io.mapping import TABLE as MAPPING
from slackwater.spark.io.sinks.postgres.server import TABLE as POSTGRES
from slackwater.spark.io.sinks.shown import TABLE as CONSOLE
from slackwater.spark.io.sources.recipe import GENERATE
from slackwater.spark.io.sources.replay import TABLE as REPLAY
from slackwater.spark.operator.writing import TABLE as CHANGELOG
from slackwater.spark.options import Option, OptionKind, OptionTable

PAGE = Path(__file__).parents[2] / "docs" / "sources-and-sinks.md"
SOURCE_TABLES: tuple[OptionTable, ...] = (GENERATE, REPLAY, KAFKA_SOURCE, MAPPING)
SINK_TABLES: tuple[OptionTable, ...] = (CONSOLE, KAFKA_SINK, POSTGRES, CHANGELOG)
BY_KIND = {
    OptionKind.WHOLE: "100", OptionKind.NUMBER: "2", OptionKind.TIME: "0.5 seconds", OptionKind.MOMENT: "2024-01-01",
    OptionKind.LENGTH: "500 rows", OptionKind.PACE: "10",
}  # fmt: skip
EXAMPLES = {
    "event": "ts", "arrival": "received", "path": "trace.csv.gz", "kafka.bootstrap.servers": "broker:9092",
    "subscribe": "traffic,tolls", "startingOffsets": "earliest", "value.schema": '{"type": "record", ...}',
    "column.NAME": "vehicle-id", "pattern.NAME": "dd/MM/yyyy HH:mm", "topic": "tolls", "key": "segment",
    "host": "db.example", "database": "roads", "user": "writer", "sslmode": "require", "password_env": "ROADS_PASSWORD",
    "table": "tolls", "schema": "public",
    "port": "5432", "kafkaConsumer.pollTimeoutMs": "60000", "senders": "400", "rate": "2000", "rows": "100000", "seed": "7",
}  # fmt: skip
INTRODUCTION = """\
# Sources and sinks

`USING format OPTIONS (key 'value', ...)` names the format of a stream or a sink. Formats that Slackwater brings along are below, with
every option; these tables are made from the code that checks the options, so an option that is not here is refused, with a hint.
Any other format (`json`, `csv`, `parquet`, `orc`, `delta`, `rate`, `socket`, ...) is Spark's: its options go to Spark as they are, and
Spark's documentation describes them. Names of options are compared without regard to case.

In a SQL file `${NAME}` is replaced by `--set NAME=VALUE` or by an environment variable.
"""
SECTIONS = {
    ("source", "generate"): """\
## Source: generate

A stream made on the spot, for trials and tests: random senders, random delays, outages on request. The same options give the same
rows. The columns depend on `stream`: `vehicles` (vehID INT, segment INT, speed DOUBLE), `sensors` (sensor INT, value DOUBLE),
`pulses` (Id INT), `body_conditions` (Id INT, Species STRING, BTemp DOUBLE, BloodP INT); the two times follow.

```sql
CREATE STREAM Traffic (vehID INT, segment INT, speed DOUBLE, timestamp TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (stream 'vehicles', rate '2000', delay 'pareto', mean '0.4 seconds', outage '2 seconds')
TIMESTAMP BY timestamp ARRIVAL BY received;
```
""",
    ("source", "replay"): """\
## Source: replay

A recorded stream in CSV, Parquet or JSON lines, perhaps gzipped, cut into the same batches every time. Use it to try a query on
what really happened; `slackwater advise` reads the same files.

```sql
CREATE STREAM Phones (id INT, event_ms TIMESTAMP, arrival_ms TIMESTAMP)
USING replay OPTIONS (path 'phones.csv.gz', event 'event_ms', arrival 'arrival_ms', unit 'ms', batch '1 second')
TIMESTAMP BY event_ms ARRIVAL BY arrival_ms SOURCE BY id;
```
""",
    ("source", "kafka"): """\
## Source: kafka

Reads topics without a JAR, with the extra `kafka`. `kafka.NAME` is any setting of librdkafka, `value.NAME` any option of the
message's format. Pseudo-columns, secrets and what was tested: [Kafka](kafka.md).

```sql
CREATE STREAM Messages (vehID INT, speed DOUBLE, ts TIMESTAMP)
USING kafka OPTIONS (kafka.bootstrap.servers 'broker:9092', subscribe 'traffic', startingOffsets 'earliest')
TIMESTAMP BY ts ARRIVAL BY kafka_timestamp SOURCE BY kafka_partition;
```
""",
    ("source", "any stream"): """\
## Source: files, and options of any stream

Files and all other formats are Spark's. Rows of `csv` and `json` that do not fit the declaration are set aside as rejected rows, and
counted. `maxFilesPerTrigger` (Spark's) bounds a batch. These options are ours and work with every format; `NAME` is a declared
column:

```sql
CREATE STREAM Log (id INT, speed DOUBLE, ts TIMESTAMP, received TIMESTAMP)
USING json OPTIONS (path 'log', maxFilesPerTrigger '10', 'column.id' 'vehicle-id', 'unit.ts' 'ms', 'unit.received' 'ms')
TIMESTAMP BY ts ARRIVAL BY received;
CREATE STREAM Delta (id INT, ts TIMESTAMP) USING delta OPTIONS (path 'events', ignoreChanges 'true') TIMESTAMP BY ts;
```
""",
    ("sink", "console"): """\
## Sink: console

Shows the rows of each batch. It has no options but those of changelogs.

```sql
CREATE SINK shown USING console;
```
""",
    ("sink", "kafka"): """\
## Sink: kafka

Keys and values are JSON. `kafka.NAME` is any setting of librdkafka. A repeated batch is sent again; headers name run and batch.

```sql
CREATE SINK messages USING kafka OPTIONS (kafka.bootstrap.servers 'broker:9092', topic 'tolls', key 'segment');
```
""",
    ("sink", "postgres"): """\
## Sink: postgres

Needs the extra `postgres`. Each batch is one transaction, with its number beside the rows: a repeated batch changes nothing. A
query with `EMIT CHANGES` keeps a table of the rows that live now; any other appends. A table that is missing is made. What
is not stated is looked up as `psql` does (`PGHOST`, `PGUSER`, `~/.pgpass`).

The table `slackwater_batches`, in the same schema, remembers what was written, one row per pipeline and checkpoint: `pipeline`, `run`
(the checkpoint), `batch` (its last batch), `punctuation` (the watermark in that batch: a table of live rows is the answer as of this
time) and `written`. Do not remove it while the checkpoint lives. A new checkpoint is another `run`, which knows nothing of earlier
rows: a query that appends adds its rows once more, so empty its table together with the checkpoint. A table of live rows is protected:
if it has rows of another run, the new run stops (SW-536), unless `restart 'clear'` lets it empty the table.

```sql
CREATE SINK present USING postgres OPTIONS (host 'db.example', database 'roads', user 'writer', password_env 'ROADS_PASSWORD');
```
""",
    ("sink", "changelog"): """\
## Sinks of changelogs

How a query with `EMIT CHANGES` is written, whatever the format of the sink. Profiles: `changes` (`_change_type` with `insert` and
`delete`, and lifetimes), `updates` (both images of an update), `flink` (`+I`, `-U`, `+U`, `-D`), `debezium` (`before`, `after`, `op`).

```sql
CREATE SINK changed USING json OPTIONS (path 'changes', changelog.profile 'flink', changelog.netChanges 'false');
```
""",
}
FILES = """\
## Sink: files, Delta and others

`parquet`, `orc`, `csv`, `json`, `text` and `delta` are Spark's sinks with Spark's options; a repeated batch changes nothing.
`path` is where they write. `memory` and `noop` are for tests.

```sql
CREATE SINK archive USING parquet OPTIONS (path 'tolls');
```
"""


def example_of(option: Option) -> str:
    """Return a value that the option can have, and not its default."""
    if option.choices:
        return option.choices[-1]
    if option.kind is OptionKind.FLAG:
        return "false" if option.default == "true" else "true"
    return EXAMPLES[option.name] if option.name in EXAMPLES else BY_KIND[option.kind]


def write_table(table: OptionTable) -> str:
    """Return the options of a table as Markdown."""
    if not table.options:
        return ""
    lines = ["| option | type | default | meaning | example |", "|---|---|---|---|---|"]
    for each in table.options:
        default = "required" if each.required else "" if each.default is None else f"`{each.default}`"
        cells = f"`{each.name}`", each.expected, default, each.about, f"`{each.name} '{example_of(each)}'`"
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def write_page() -> str:
    """Return the whole page."""
    parts = [INTRODUCTION]
    tables = {("source", each.name): each for each in SOURCE_TABLES} | {
        ("sink", each.name): each for each in SINK_TABLES
    }
    for place, text in SECTIONS.items():
        parts += [text, write_table(tables.pop(place))]
        if place == ("sink", "postgres"):
            parts.append(FILES)
    assert not tables, f"tables without a section: {sorted(tables)}"
    return "\n".join(each for each in parts if each)


if __name__ == "__main__":
    PAGE.write_text(write_page())
