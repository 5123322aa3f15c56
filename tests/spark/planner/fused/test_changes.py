"""Changelogs on Spark are those of the kernels, whose law is the interpreter; buckets change nothing."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.engine.changelog.running import given_by, run
from tests.engine.rich import rich_expressions
from tests.engine.running import plain_rows
from tests.spark.conformance import _plain, found

from slackwater.algebra.nodes import Plan
from slackwater.app.frames import sql, stream
from slackwater.engine.changelog.kernel import ChangelogKernel
from slackwater.engine.changelog.living import STRUCTURES
from slackwater.engine.plan import JoinLogs, children
from slackwater.errors import InputError, QueryError
from slackwater.lang import bind_query
from slackwater.rewrite import rewrite
from slackwater.semantics import Feed, FeedBatch
from slackwater.spark.operator.writing import Form, form_of
from slackwater.spark.planner.fused.changelog import changes_of
from slackwater.spark.planner.fused.fuse import describe
from slackwater.spark.planner.fused.split import split
from slackwater.spark.planner.ways import Host, way_of
from slackwater.testing.catalog import CATALOG
from slackwater.testing.choices import Seeded
from slackwater.testing.streams import make_feeds

SECOND = 1_000_000
QUERIES = {
    "grouped aggregate": """SELECT kind, COUNT(*) AS n, MAX(v) AS top, MIN_BY(id, x) AS low, BIT_OR(v) AS bits
        FROM Readings [RANGE 5 seconds] GROUP BY kind EMIT CHANGES""",
    "join": """SELECT r.id, r.v, p.v AS pulse FROM Readings [RANGE 20 seconds] AS r, Pulses [RANGE 30 seconds] AS p
        WHERE r.id = p.id EMIT CHANGES""",
    "distinct": "SELECT DISTINCT id, kind FROM Readings [RANGE 5 seconds] EMIT CHANGES",
    "minus": """SELECT id FROM Readings [RANGE 9 seconds] EXCEPT SELECT id FROM Pulses [RANGE 3 seconds]
        EMIT CHANGES""",
    "boundaries": """SELECT id, SUM(v) AS total FROM Readings [RANGE 6 seconds SLIDE 3 seconds] GROUP BY id
        EMIT CHANGES""",
    "sampled": """SELECT id, COUNT(*) AS n FROM Readings [FREQUENCY 2 seconds PARTITIONED BY id] GROUP BY id
        EMIT CHANGES""",
    "sampled of two": """SELECT id, COUNT(*) AS n FROM (SELECT id FROM Readings UNION ALL SELECT id FROM Pulses) AS q
        [FREQUENCY 2 seconds PARTITIONED BY id] GROUP BY id EMIT CHANGES""",
    "groups of two and a sample": """SELECT id, SUM(n) AS total FROM (SELECT p.id, COUNT(*) AS n FROM Readings AS r
        [RANGE 6 seconds SLIDE 3 seconds], Pulses AS p [RANGE 3 seconds SLIDE 3 seconds] GROUP BY p.id
        UNION ALL SELECT id, v FROM Readings [FREQUENCY 2 seconds]) AS q [RANGE 3 TUPLES] GROUP BY id EMIT CHANGES""",
    "pairs of the last rows": """SELECT id, w, row_number FROM (SELECT r.id, p.v AS w FROM Readings
        [RANGE 2 TUPLES] AS r, Pulses [RANGE 30 seconds] AS p) AS q EMIT CHANGES""",
    "the last rows with extents": """SELECT r.id, p.v FROM Readings [RANGE 2 TUPLES, FREQUENCY 3 seconds] AS r,
        Pulses [RANGE 30 seconds SLIDE 3 seconds] AS p EMIT CHANGES""",
    "everything": "SELECT COUNT(*) AS n FROM Readings WHERE v > 0 EMIT CHANGES",
}
TWO = ("join", "minus", "sampled of two", "groups of two and a sample", "pairs of the last rows")
STREAMS = {name: ["Readings", "Pulses"] for name in (*TWO, "the last rows with extents")}


def expected(plan: Plan, feeds: Mapping[str, Feed], made: Any = None) -> Counter[tuple[Any, ...]]:
    """Return the changes of the plan's kernel, or of `made`, over all batches, after the last punctuations."""
    longest = max(len(feed.batches) for feed in feeds.values())
    ended = {
        name: replace(feed, batches=feed.batches + (FeedBatch(),) * (longest - len(feed.batches) + 1))
        for name, feed in feeds.items()
    }
    with rich_expressions():
        kernel = made or ChangelogKernel(changes_of(plan), net=True)
        lines = run(kernel, given_by(plan, ended, flush=False), stored=made is None).lines
    return Counter(tuple(map(_plain, row)) for each in lines for row in plain_rows(each))


def test_the_changelog_of_batch_dataframes_is_that_of_the_end_of_their_input(spark):
    """What lives at the newest row that is not suspect, 4 s: v = 4 came at 5 s, stamped 15 minutes later."""
    rows = "SELECT * FROM VALUES (1, 1, 1), (2, 4, 4), (4, 900, 5), (9, NULL, 3) AS t (v, t, a)"
    df = spark.sql(rows).selectExpr("v", "timestamp_seconds(t) AS ts", "timestamp_seconds(a) AS at")
    given = {"S": stream(df, "ts", arrival="at"), "R": stream(df.where("v < 0"), "ts", arrival="at")}
    given["Ahead"] = stream(df.where("v = 4"), "ts", arrival="at")

    def answer(query: str) -> list[tuple[Any, ...]]:
        found = sql(f"{query} EMIT CHANGES", **{name: each for name, each in given.items() if name in query.split()})
        times = ("unix_seconds(_valid_from) AS since", "unix_seconds(_valid_to) AS until")
        names = [name for name in found.columns if not name.startswith("_")]
        return sorted(tuple(row) for row in found.selectExpr("_change_type", *times, *names).collect())

    assert answer("SELECT v FROM S [RANGE 10 seconds]") == [
        ("insert", 1, 11, 1),
        ("insert", 4, 14, 2),
        ("insert", 4, 14, 4),
    ]
    assert answer("SELECT v FROM S [RANGE 2 seconds]") == [("insert", 4, 6, 2), ("insert", 4, 6, 4)]
    assert answer("SELECT v FROM S [RANGE 2 seconds] WHERE v = 1") == [], "the newest row is at 4 s, selected or not"
    assert answer("SELECT COUNT(*) AS n FROM S [RANGE 10 seconds]") == [("insert", 4, 11, 3)]
    assert answer("SELECT COUNT(*) AS n FROM Ahead") == [("insert", 5, None, 1)], "no stamp is trusted, its arrival is"
    assert answer("SELECT v FROM R [RANGE 10 seconds]") == []


@pytest.mark.parametrize("name", QUERIES)
def test_a_changelog_is_that_of_its_kernel(spark, tmp_path, name):
    plan = rewrite(bind_query(QUERIES[name], CATALOG)).plan
    streams = STREAMS.get(name, ["Readings"])
    given = (make_feeds(Seeded(seed), streams, punctuation="trailing", unit=SECOND, max_rows=40) for seed in range(20))
    feeds, answer = next((each, told) for each in given if len(told := expected(plan, each)) > 3)
    assert found(spark, plan, feeds, CATALOG, tmp_path) == answer


def test_the_planner_says_who_runs_it_in_which_buckets_and_what_is_kept():
    plan = bind_query(QUERIES["join"], CATALOG)
    assert way_of(plan).host is Host.FUSED
    assert str(describe(plan)) == (
        "one operator, in buckets by Readings.id, Pulses.id: no operator needs rows of two of them together"
    )
    assert [
        (node.edge.level, [STRUCTURES[each.edge.level].name for each in children(node)])
        for node in changes_of(split(plan).core).nodes
        if isinstance(node, JoinLogs)
    ] == [(3, ["queue", "queue"])]
    whole = bind_query(QUERIES["everything"], CATALOG)
    assert describe(whole).columns == ((),)


def test_what_has_no_kernel_is_refused_when_it_is_planned():
    plan = bind_query("SELECT id FROM Edits [FREQUENCY 2 seconds] EMIT CHANGES", CATALOG)
    with pytest.raises(QueryError, match="cannot be counted"):
        way_of(plan)


@pytest.mark.parametrize(
    ("options", "form"),
    [
        ({}, Form()),
        ({"changelog.netChanges": "false"}, Form(net=False)),
        ({"changelog.updates": "true"}, Form(profile="updates")),
        ({"CHANGELOG.PROFILE": "debezium"}, Form(profile="debezium")),
        ({"changelog.upserts": "true", "changelog.netChanges": "false"}, Form(net=False, upserts=True)),
    ],
)
def test_a_sink_says_how_its_changelog_is_written(options, form):
    assert form_of({"path": "x"} | options) == (form, {"path": "x"})


@pytest.mark.parametrize(
    "options", [{"changelog.netChanges": "no"}, {"changelog.profile": "flonk"}, {"changelog.upserts": "1"}]
)
def test_other_ways_are_refused(options):
    with pytest.raises((InputError, QueryError)):
        form_of(options)
