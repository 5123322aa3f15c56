"""docs/errors.md: mistakes and what is said about them. `python -m tests.lang.errors_page` writes the page anew."""
# ruff: noqa: E501 (queries are kept on one line)

from __future__ import annotations

from pathlib import Path

from slackwater.app.views import optimise_pipelines
from slackwater.engine.plan import encode
from slackwater.errors import QueryError, found_in
from slackwater.lang import parse_script
from slackwater.spark.operator.kernel import changelog_kernel_of
from slackwater.spark.operator.writing import form_of
from slackwater.spark.planner.fused.changelog import changes_of
from slackwater.spark.planner.fused.split import split
from slackwater.spark.planner.ways import way_of

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"
STREAMS = """\
CREATE STREAM Sensors (vehID INT, segment INT, speed DOUBLE, ts TIMESTAMP)
USING parquet OPTIONS (path 'sensors')
TIMESTAMP BY ts;

CREATE STREAM Traffic (segment INT, speed DOUBLE, timestamp TIMESTAMP)
USING parquet OPTIONS (path 'traffic');
"""
INTRODUCTION = f"""\
# Errors

Every mistake in a query is found before anything runs. An error has a code that does not change, the place, what was
expected there, and what to do. `slackwater explain FILE.sql` finds those of the text and its meaning without Spark;
`slackwater dry-run FILE.sql` finds them all: it opens Spark, which checks sources, sinks and plans, but starts no query.
`slackwater run FILE.sql` makes the same checks before it starts one.

Codes: SW-1xx is about the text (SW-126 and SW-16x: about a plan document), SW-2xx about what it means, SW-3xx about
plans that cannot be run or printed, SW-4xx about files and options, SW-5xx about a pipeline that runs. [Errors by
code](codes.md) has them all, with what to do.

The examples below read these streams. Each message is what is really said: a test runs them all.

```sql
{STREAMS}```
"""
SECTIONS: dict[str, list[str]] = {
    "Names": [
        "SELECT vehID FROM Senors",
        "SELECT vehID, sped FROM Sensors",
        "SELECT segment FROM Sensors S, Traffic T [WATTR timestamp]",
        "SELECT S.vehID FROM Sensors S, Sensors S",
        "SELECT vehID, speed AS vehID FROM Sensors",
        "SELECT * FROM Sensors A, Sensors B",
        "SELECT vehID FROM (SELECT vehID FROM Sensors)",
        "CREATE SINK fast USING console;\nINSERT INTO fats SELECT vehID FROM Sensors WHERE speed > 80",
        "CREATE STREAM sensors (id INT) USING json",
        "SELECT vehID FROM ${STREAM}",
    ],
    "Windows": [
        "SELECT MAX(speed) FROM Sensors [RANGE 100 TUPLES SLIDE 5 SECONDS]",
        "SELECT MAX(speed) FROM Sensors [SLIDE 5 seconds]",
        "SELECT MAX(speed) FROM Sensors [RANGE 5 minutes, FREQUENCY 0 tuples]",
        "SELECT MAX(speed) FROM Sensors [RANGE 5 minutes SLIDE 1 minute, FREQUENCY 10 tuples]",
        "SELECT MAX(speed) FROM Sensors [RANGE 5 fortnights]",
        "SELECT MAX(speed) FROM Sensors [RANGE 5minutes]",
        "SELECT MAX(speed) FROM Sensors [RANGE 5 minutes WATTR segment]",
        "SELECT MAX(speed) FROM Traffic [RANGE 5 minutes]",
        "SELECT segment, window_end, COUNT(*) FROM Sensors [RANGE 5 minutes] GROUP BY segment",
    ],
    "Brackets": [
        "SELECT MAX(speed) FROM Sensors [RANGE 5 minutes SLIDE 1 minute GROUP BY segment",
        "SELECT MAX(speed) FROM Sensors RANGE 5 minutes SLIDE 1 minute]",
        "SELECT MAX(speed) FROM Sensors RANGE 5 minutes",
        "SELECT MAX(speed) FROM Sensors [RANEG 5 minutes]",
        "SELECT MAX(speed) FROM Sensors [RANGE 5 minutes, RANGE 10 minutes]",
        "SELECT MAX(speed) [RANGE 5 minutes] FROM Sensors",
        "SELECT MAX(speed) FROM Sensors []",
    ],
    "Disorder control": [
        "SELECT MAX(speed) FROM Sensors [RANGE 5 minutes DRATIO 101%]",
        "SELECT MAX(speed) FROM Sensors [RANGE 5 minutes DRATIO 0%]",
        "SELECT MAX(speed) FROM Sensors [RANGE 5 minutes DRATIO 100%]",
        "SELECT MAX(speed) FROM Sensors [RANGE 5 minutes DRATIO -1%]",
        "SELECT MAX(speed) FROM Sensors [RANGE 5 minutes DRATIO 0.01]",
        "SELECT MAX(speed) FROM Sensors [RANGE 5 minutes DRATIO 1% WITHIN 30 rows]",
        "SELECT MAX(speed) FROM Sensors [RANGE 5 minutes SLACK 1.5]",
        "SELECT MAX(speed) FROM Sensors [RANGE 5 minutes DRATIO 1% USING adaptiv]",
        "SELECT MAX(s.speed) FROM (SELECT speed FROM Sensors) s [RANGE 5 minutes SLACK 10]",
    ],
    "Aggregates": [
        "SELECT vehID FROM Sensors WHERE MAX(speed) > 80",
        "SELECT COUNT(*) FROM Sensors [RANGE 5 minutes] GROUP BY MAX(speed)",
        "SELECT MAX(AVG(speed)) FROM Sensors [RANGE 5 minutes] GROUP BY segment",
        "SELECT vehID FROM Sensors WHERE speed",
    ],
    "Answers that are not final": [
        "SELECT segment, COUNT(*) FROM Sensors GROUP BY segment",
        "SELECT DISTINCT segment FROM Sensors [RANGE 5 minutes]",
        "SELECT segment FROM Sensors EXCEPT SELECT segment FROM Traffic [WATTR timestamp]",
        "CREATE STREAM Edits (op STRING, id INT, ts TIMESTAMP, PRIMARY KEY (id)) USING json TIMESTAMP BY ts CHANGELOG BY op;\nSELECT COUNT(*) AS n FROM Edits [RANGE 5 seconds SLIDE 5 seconds]",
        "SELECT MAX(speed) FROM Sensors [RANGE 5 minutes] EMIT FINAL WITH SYNC",
        "SELECT MAX(speed) FROM Sensors [RANGE 5 minutes] EMIT FINALE",
    ],
    "Joins and unions": [
        "SELECT A.vehID\nFROM Sensors A [RANGE 5 minutes SLIDE 1 minute],\n     Sensors B [RANGE 5 minutes SLIDE 30 seconds]",
        "SELECT vehID FROM Sensors [RANGE 5 minutes SLIDE 1 minute]\nUNION ALL SELECT vehID FROM Sensors [RANGE 5 minutes SLIDE 5 minutes]\nEXCEPT SELECT segment FROM Sensors [RANGE 5 minutes SLIDE 1 minute]",
        "SELECT A.vehID\nFROM Sensors A [RANGE 5 minutes SLIDE 1 minute]\nJOIN Sensors B [RANGE 5 minutes] ON A.vehID = B.vehID",
        "SELECT A.vehID FROM Sensors A LEFT JOIN Sensors B ON A.vehID = B.vehID",
        "SELECT A.vehID FROM Sensors A JOIN Sensors B",
        "SELECT vehID, speed FROM Sensors UNION ALL SELECT segment FROM Sensors",
        "SELECT speed FROM Sensors UNION ALL SELECT ts FROM Sensors",
        "SELECT vehID FROM Sensors UNION SELECT segment FROM Sensors",
    ],
    "The text": [
        "SELECT vehID, FROM Sensors",
        "SELECT vehID FROM Sensors WHERE speed >",
        "SELECT COUNT(*) FROM Sensors [RANGE 1 minute] GROUP segment",
        "SELECT vehID FROM Sensors WHERE segment = 'A1",
        "SELECT (speed + 1 * 2 FROM Sensors",
        "SELECT vehID FROM Sensors where speed > 80 segment = 3",
        "SELECT vehID FROM Sensors ORDER BY speed",
        "SELEC vehID FROM Sensors",
        "CREATE STREAM Rides (id INTT) USING json",
        "CREATE STREAM Rides (id INT) USING json OPTIONS (path)",
        "EXPLAIN",
        "SET changelog.updates = true",
        "-- nothing yet",
    ],
}  # fmt: skip


PLANS = [
    "CREATE SINK pairs USING console;\nINSERT INTO pairs\nSELECT A.vehID FROM Sensors A [RANGE 5 minutes], Sensors B [RANGE 5 minutes] WHERE A.vehID = B.vehID",
]  # fmt: skip
"""Queries that mean something, but that nothing can run."""
ABOUT_PLANS = """\
## Plans that cannot be run

A plan has no place in the text: the pipeline is named, which has the name of its sink.
"""
EDITS = """\
CREATE STREAM Edits (op STRING, vehID INT, speed DOUBLE, ts TIMESTAMP, PRIMARY KEY (vehID))
USING parquet OPTIONS (path 'edits')
TIMESTAMP BY ts CHANGELOG BY op;
"""
CHANGELOGS = [
    "SELECT speed FROM Edits [RANGE 2 TUPLES] EMIT CHANGES",
    "CREATE SINK fast USING parquet OPTIONS (path 'fast', changelog.profile 'avro');\nINSERT INTO fast SELECT vehID FROM Sensors EMIT CHANGES",
    "CREATE SINK fast USING parquet OPTIONS (path 'fast', changelog.upserts 'true');\nINSERT INTO fast SELECT vehID FROM Sensors EMIT CHANGES",
    "SELECT vehID AS _change_type, COUNT(*) AS n FROM Sensors [RANGE 5 minutes] GROUP BY vehID EMIT CHANGES",
]  # fmt: skip
"""Queries that mean something, but have no changelog, or none in that form."""
ABOUT_CHANGELOGS = f"""\
## Changelogs

What EMIT CHANGES cannot do is found when a query is planned, before anything runs; the place is then the query as a
whole. A tree of operators that no planner wrote, and that is not well formed, is SW-360. These read one more stream:

```sql
{EDITS}```
"""


def message(text: str) -> str:
    """Return the error message for a text that follows the declarations."""
    declared = parse_script(STREAMS)
    try:
        parse_script(text, file="query.sql", variables={}, catalog=declared.catalog)
    except QueryError as error:
        return str(error)
    raise AssertionError(f"no mistake in: {text}")


def unplaced(text: str) -> str:
    """Return the error message for a query that no operator can run."""
    script = parse_script(text, file="query.sql", variables={}, catalog=parse_script(STREAMS).catalog)
    try:
        for each in optimise_pipelines(script):
            with found_in(f"the pipeline '{each.name}'"):
                way_of(each.plan)
    except QueryError as error:
        return str(error)
    raise AssertionError(f"can be run: {text}")


def planned(text: str) -> str:
    """Return the error message of planning the changelog of a query."""
    declared = parse_script(STREAMS + EDITS)
    (pipeline,) = parse_script(text, file="query.sql", variables={}, catalog=declared.catalog).pipelines
    try:
        form, _ = form_of({} if pipeline.sink is None else pipeline.sink.options)
        changelog_kernel_of(encode(changes_of(split(pipeline.plan).core)), form)
    except QueryError as error:
        return str(error)
    raise AssertionError(f"no mistake in: {text}")


def page() -> str:
    parts = [INTRODUCTION]
    for title, queries in SECTIONS.items():
        parts.append(f"## {title}\n")
        parts += [f"```text\n{query}\n```\n\n```text\n{message(query)}\n```\n" for query in queries]
    parts.append(ABOUT_PLANS)
    parts += [f"```text\n{query}\n```\n\n```text\n{unplaced(query)}\n```\n" for query in PLANS]
    parts.append(ABOUT_CHANGELOGS)
    parts += [f"```text\n{query}\n```\n\n```text\n{planned(query)}\n```\n" for query in CHANGELOGS]
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
