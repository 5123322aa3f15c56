"""Chains that are cut where Spark computes a column between two operators of the engine."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812
from tests.engine.changelog.running import given_by as given_by_streams
from tests.engine.changelog.running import run
from tests.engine.changelog.test_laws import MEETING, WHOLE, check_same, end
from tests.engine.changelog.test_laws import NESTED as SUBQUERIES
from tests.engine.divided import computed_feeds, finished_row
from tests.engine.running import Given, Ran, close, given_by, plain_rows, through_bytes
from tests.engine.test_laws import cut, told
from tests.law_cases import law_cases
from tests.spark.conformance import Punctuations, _plain, _written
from tests.spark.conformance import found as changelog_found
from tests.spark.planner.fused.test_changes import expected
from tests.spark.planner.fused.test_cutting import read
from tests.spark.planner.fused.test_functions import answer, rows

from slackwater.algebra.nodes import Plan, Scan, walk
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import Expr, Field, Schema
from slackwater.engine.chain import ChainKernel
from slackwater.engine.changelog.kernel import ChangelogKernel
from slackwater.engine.changelog.log import handed_rows, of_tuples
from slackwater.engine.columns.arrays import arrow_type, type_name
from slackwater.engine.columns.rows import COLUMN
from slackwater.engine.columns.state import State
from slackwater.engine.plan import Chain, Compute, EnginePlan, Input, Node, Over
from slackwater.errors import QueryError
from slackwater.lang import bind_query, parse_script
from slackwater.rewrite import rewrite
from slackwater.semantics import Feed, FeedBatch, interpret
from slackwater.semantics.expressions import value_of
from slackwater.semantics.rows import Row
from slackwater.spark.planner.fused.chains import chain_of, undotted
from slackwater.spark.planner.fused.changelog import changes_of
from slackwater.spark.planner.fused.changes import cut_tree, input_from
from slackwater.spark.planner.fused.fuse import describe
from slackwater.spark.planner.fused.split import split
from slackwater.spark.planner.fused.stages import fewest_stages
from slackwater.spark.run.pipeline import Manner, start
from slackwater.spark.run.sides import group_by_query
from slackwater.spark.watermark import steering
from slackwater.testing.catalog import CATALOG
from slackwater.testing.choices import Seeded
from slackwater.testing.plans import Case, Shape, seeded_case
from slackwater.testing.streams import make_feed, make_feeds

pytestmark = pytest.mark.long

SECOND = 1_000_000
LIKE = "kind LIKE concat(least, '%')"
INNER = "SELECT id, LAST(kind) AS kind, MIN(kind) AS least, COUNT(*) AS n FROM Readings"
QUERIES = {
    "in the select list": """SELECT same, COUNT(*) AS n FROM (SELECT id, LIKE_LEAST AS same, n FROM
        (INNER [RANGE 5 seconds] GROUP BY id) AS P [RANGE 1 TUPLE]) AS Q [RANGE 4 TUPLES] GROUP BY same""",
    "in an outer group": """SELECT LIKE_LEAST AS same, SUM(n) AS n FROM (INNER [RANGE 3 TUPLES] GROUP BY id) AS P
        [RANGE 4 seconds] GROUP BY LIKE_LEAST""",
    "in an outer condition": """SELECT id, SUM(n) AS n FROM (INNER [RANGE 6 seconds SLIDE 2 seconds] GROUP BY id) AS P
        [RANGE 4 TUPLES] WHERE LIKE_LEAST AND id > 0 GROUP BY id""",
    "in HAVING, with an attribute of the instant": """SELECT COUNT(*) AS n, MAX(told) AS told FROM
        (SELECT id, round(AVG(x), id) AS told, row_number AS at FROM Readings [RANGE 5 seconds] GROUP BY id
        HAVING MAX(kind) LIKE concat(MIN(kind), '%')) AS P [RANGE 3 TUPLES] WHERE at > 1""",
    "below DISTINCT": """SELECT COUNT(*) AS n FROM (SELECT DISTINCT LIKE_LEAST AS same FROM
        (INNER [RANGE 6 seconds SLIDE 2 seconds] GROUP BY id) AS P [RANGE 4 seconds SLIDE 2 seconds]) AS Q
        [RANGE 3 TUPLES]""",
    "below DISTINCT of the groups of extents": """SELECT same, COUNT(*) AS n FROM (SELECT DISTINCT MAX(kind) LIKE
        concat(MIN(kind), '%') AS same FROM Readings [RANGE 5 seconds SLIDE 2 seconds] GROUP BY id) AS P
        [RANGE 3 TUPLES] GROUP BY same""",
    "below DISTINCT of groups of parts at every second row": """SELECT same, COUNT(*) AS n FROM (SELECT DISTINCT
        MAX(kind) LIKE concat(MIN(kind), '%') AS same FROM Readings
        [RANGE 5 TUPLES, FREQUENCY 2 TUPLES PARTITIONED BY v] GROUP BY id) AS P [RANGE 3 TUPLES] GROUP BY same""",
    "after slots of time": """SELECT same, COUNT(*) AS n FROM (SELECT LIKE_LEAST AS same, n [FREQUENCY 3 seconds] FROM
        (INNER [RANGE 5 seconds] GROUP BY id) AS P [RANGE 1 TUPLE]) AS Q [RANGE 4 TUPLES] GROUP BY same""",
    "twice": """SELECT most LIKE concat(low, '%') AS same, COUNT(*) AS n FROM
        (SELECT LIKE_LEAST AS same, MAX(kind) AS most, MIN(kind) AS low FROM (INNER [RANGE 5 seconds] GROUP BY id) AS P
        [RANGE 4 TUPLES] GROUP BY LIKE_LEAST) AS Q [RANGE 5 TUPLES] GROUP BY most LIKE concat(low, '%')""",
}


def bound(text: str) -> Plan:
    return rewrite(bind_query(written(text), CATALOG)).plan


def written(text: str) -> str:
    return text.replace("LIKE_LEAST", LIKE).replace("INNER", INNER)


def run_around(chain: Chain, batches: list[Given]) -> Ran:
    """Return the output of the stages of a chain; the interpreter computes the columns between them."""
    kernels = [ChainKernel(chain, number) for number in range(len(chain.cuts) + 1)]
    states: list[State] = [kernel.init() for kernel in kernels]
    made = Ran()
    for given_rows, punctuation in batches:
        names = chain.input.names
        plain = [{name: row.get(name) for name in names} for row in given_rows]
        batch = pa.RecordBatch.from_pylist(plain, chain.input.schema)
        for number, kernel in enumerate(kernels):
            state, batch = kernel.step(states[number], batch, punctuation)
            states[number] = through_bytes(state)
            if number < len(chain.cuts):
                batch = with_columns(batch, chain.steps[chain.cuts[number]])
        made.rows.append([(row[:-1], row[-1]) for row in plain_rows(batch)])
    return made


def with_columns(batch: pa.RecordBatch, step: Compute, prefix: str = COLUMN) -> pa.RecordBatch:
    names = [undotted(name.removeprefix(prefix)) for name in batch.schema.names]
    schema = Schema(tuple(Field(name, "unknown") for name in names))
    for item in step.items:
        expr = Expr(item.tree[1], item.type)
        values = [value_of(expr, schema, Row(row, 0)) for row in plain_rows(batch)]
        batch = batch.append_column(f"{prefix}{item.name}", pa.array(values, arrow_type(item.type)))
    return batch


@settings(max_examples=law_cases(12), deadline=None)
@pytest.mark.parametrize("name", QUERIES)
@given(seed=st.integers(0, 2**40), data=st.data())
def test_stages_around_spark_answer_as_the_interpreter_does(name: str, seed: int, data: st.DataObject):
    plan = bound(QUERIES[name])
    feed = make_feed(Seeded(seed), CATALOG.streams[0], punctuation="trailing", unit=SECOND, max_rows=40)
    divided = split(plan)
    chain = chain_of(divided.core)
    chain = Chain(chain.input, chain.steps, fewest_stages(chain).cuts)
    assert len(chain.cuts) == (2 if name in ("twice", "in HAVING, with an attribute of the instant") else 1)
    batches = given_by(computed_feeds(divided.entries, {"Readings": feed})["Readings"])
    found = run_around(chain, batches)
    wanted = told(interpret(plan, {"Readings": feed}, flush=True), len(batches))
    made = [
        [(row, time) for values, time in batch if (row := finished_row(divided.after, values)) is not None]
        for batch in found.rows
    ]
    assert close(made, wanted.rows)
    again = run_around(chain, data.draw(cut(batches)))
    assert close([row for batch in again.rows for row in batch], [row for batch in found.rows for row in batch])


def test_explain_says_what_spark_computes_between_the_operators():
    said = str(describe(bound(QUERIES["in an outer group"])))
    assert said.startswith("2 operators, since Spark computes kind LIKE CONCAT(least, '%') between them; each in ")


CHANGELOGS = {
    "a group": "SELECT LIKE_LEAST AS same, SUM(n) AS n FROM (INNER GROUP BY id) AS P GROUP BY LIKE_LEAST",
    "a range": """SELECT LIKE_LEAST AS same, SUM(n) AS n FROM (INNER [RANGE 5 seconds] GROUP BY id) AS P
        [RANGE 9 seconds] GROUP BY LIKE_LEAST""",
    "a condition": """SELECT id, SUM(n) AS n FROM (INNER [RANGE 5 seconds] GROUP BY id) AS P [RANGE 9 seconds]
        WHERE LIKE_LEAST GROUP BY id""",
    "a select list, twice": """SELECT most LIKE concat(low, '%') AS same, COUNT(*) AS n FROM
        (SELECT LIKE_LEAST AS same, MAX(kind) AS most, MIN(kind) AS low FROM (INNER GROUP BY id) AS P
        GROUP BY LIKE_LEAST) AS Q GROUP BY most LIKE concat(low, '%')""",
    "the last rows": """SELECT SUM(CASE WHEN LIKE_LEAST THEN n END) AS n, MAX(LIKE_LEAST) AS same FROM
        (INNER [RANGE 3 TUPLES] GROUP BY id) AS P [RANGE 4 TUPLES]""",
    "the list of a subquery, then the last rows": """SELECT same, COUNT(*) AS n FROM (SELECT LIKE_LEAST AS same, n FROM
        (INNER [RANGE 5 seconds] GROUP BY id) AS P [RANGE 1 TUPLE]) AS Q [RANGE 4 TUPLES] GROUP BY same""",
    "DISTINCT": "SELECT DISTINCT LIKE_LEAST AS same FROM (INNER GROUP BY id) AS P",
    "DISTINCT at every second row": """SELECT same, COUNT(*) AS n FROM (SELECT DISTINCT MAX(kind) LIKE
        concat(MIN(kind), '%') AS same FROM Readings [RANGE 5 TUPLES, FREQUENCY 2 TUPLES] GROUP BY id) AS P
        GROUP BY same""",
    "DISTINCT of parts, behind HAVING, twice": """SELECT same, told, COUNT(*) AS n FROM (SELECT DISTINCT id,
        MAX(kind) LIKE concat(MIN(kind), '%') AS same, COUNT(*) AS told FROM Readings
        [RANGE 9 TUPLES, FREQUENCY 2 TUPLES PARTITIONED BY v] GROUP BY id, kind
        HAVING upper(MIN(kind)) = upper(MAX(kind))) AS P [RANGE 6 TUPLES] GROUP BY same, told""",
    "DISTINCT of parts at boundaries": """SELECT DISTINCT MAX(kind) LIKE concat(MIN(kind), '%') AS same, COUNT(*) AS n
        FROM Readings [RANGE 6 seconds, FREQUENCY 2 seconds PARTITIONED BY id] GROUP BY kind""",
    "DISTINCT of groups of a query of two streams": """SELECT same, COUNT(*) AS n FROM (SELECT DISTINCT id,
        MAX(kind) LIKE concat(MIN(kind), '%') AS same FROM (SELECT r.id, r.kind FROM Readings [RANGE 3 seconds] AS r,
        Pulses [RANGE 9 seconds] AS p) AS P [RANGE 5 TUPLES, FREQUENCY 2 TUPLES] GROUP BY id) AS Q
        [RANGE 4 TUPLES] GROUP BY same""",
    "HAVING at boundaries, with the bound": """SELECT COUNT(*) AS n, MAX(e) AS e FROM (SELECT id, window_end AS e
        FROM Readings [RANGE 6 seconds SLIDE 2 seconds] GROUP BY id HAVING MAX(kind) LIKE concat(MIN(kind), '%')) AS P
        [RANGE 4 seconds]""",
    "windows at boundaries": """SELECT same, SUM(n) AS n FROM (SELECT id, LIKE_LEAST AS same, n FROM
        (INNER [RANGE 6 seconds SLIDE 2 seconds] GROUP BY id) AS I [RANGE 1 TUPLE]) AS P
        [RANGE 4 seconds SLIDE 2 seconds] GROUP BY same""",
    "the last rows at boundaries": """SELECT same, SUM(n) AS n FROM (SELECT id, LIKE_LEAST AS same, n FROM
        (INNER [RANGE 6 seconds SLIDE 2 seconds] GROUP BY id) AS I [RANGE 1 TUPLE]) AS P
        [RANGE 4 TUPLES, FREQUENCY 2 seconds] GROUP BY same""",
    "a condition and a group at boundaries, twice": """SELECT LIKE_LEAST AS same, MAX(n) AS n FROM
        (INNER [RANGE 6 seconds SLIDE 2 seconds] GROUP BY id) AS P [RANGE 4 seconds SLIDE 2 seconds]
        WHERE LIKE_LEAST OR n > 1 GROUP BY LIKE_LEAST""",
    "two streams": """SELECT LIKE_LEAST AS same, COUNT(*) AS n FROM (SELECT r.id, LAST(r.kind) AS kind, MIN(r.kind) AS
        least FROM Readings [RANGE 8 seconds] AS r, Pulses [RANGE 9 seconds] AS p WHERE r.id = p.id GROUP BY r.id) AS P
        GROUP BY LIKE_LEAST""",
    "one side of a join": """SELECT P.same FROM (SELECT id, LIKE_LEAST AS same FROM (INNER GROUP BY id) AS I) AS P,
        Pulses [RANGE 9 seconds] AS q WHERE P.id = q.id""",
    "behind slots of time": """SELECT LIKE_LEAST AS same, SUM(n) AS n FROM (SELECT kind, least, n
        [FREQUENCY 3 seconds] FROM (INNER [RANGE 5 seconds] GROUP BY id) AS I [RANGE 1 TUPLE]) AS P
        [RANGE 4 seconds] GROUP BY LIKE_LEAST""",
    "behind slots of time, beside a stream": """SELECT same, COUNT(*) AS n FROM (SELECT id, LIKE_LEAST AS same
        [FREQUENCY 3 seconds] FROM (INNER [RANGE 5 seconds] GROUP BY id) AS I [RANGE 1 TUPLE]) AS P [RANGE 4 seconds],
        Pulses [RANGE 9 seconds] AS q WHERE P.id = q.id GROUP BY same""",
    "one side of a UNION": """SELECT COUNT(*) AS n, same FROM (SELECT LIKE_LEAST AS same FROM (INNER GROUP BY id) AS I
        UNION ALL SELECT v > 2 AS same FROM Pulses [RANGE 5 seconds]) AS P GROUP BY same""",
    "both sides of EXCEPT, twice": """SELECT id, n, LIKE_LEAST AS same FROM (INNER GROUP BY id) AS I EXCEPT
        SELECT id, n, least LIKE concat(kind, '%') AS same FROM (INNER [RANGE 5 seconds] GROUP BY id) AS J""",
    "a stream beside itself": """SELECT P.same, r.v FROM (SELECT id, LIKE_LEAST AS same FROM (INNER GROUP BY id) AS I)
        AS P, Readings [RANGE 3 seconds] AS r WHERE P.id = r.id""",
    "a changelog, twice": """SELECT same, SUM(n) AS n FROM (SELECT a LIKE concat(b, '%') AS same, n FROM (SELECT id,
        CAST(MAX(v) AS STRING) AS a, CAST(MIN(v) AS STRING) AS b, COUNT(*) AS n FROM Edits GROUP BY id) AS I) AS P
        GROUP BY same""",
    "a changelog beside itself, twice": """SELECT P.same, e.v FROM (SELECT id, a LIKE concat(b, '%') AS same FROM
        (SELECT id, CAST(MAX(v) AS STRING) AS a, CAST(MIN(v) AS STRING) AS b FROM Edits GROUP BY id) AS I) AS P,
        Edits AS e WHERE P.id = e.id""",
    "row_number": """SELECT same, COUNT(*) AS n FROM (SELECT kind LIKE concat(substring(least, row_number % 2), '%') AS
        same FROM (INNER [RANGE 3 TUPLES] GROUP BY id) AS I [RANGE 4 seconds]) AS P GROUP BY same""",
    "a condition and an equality of a join, twice": """SELECT r.v, COUNT(*) AS n FROM (INNER GROUP BY id) AS P, Readings
        [RANGE 3 seconds] AS r WHERE substring(P.kind, 1) = substring(r.kind, 1) AND r.kind LIKE concat(P.least, '%')
        GROUP BY r.v""",
    "pairs of the last rows": """SELECT id, COUNT(*) AS n FROM (SELECT a.id FROM (INNER [RANGE 3 TUPLES] GROUP BY id) AS
        a [RANGE 2 TUPLES], Pulses [RANGE 9 seconds] AS b WHERE a.id = b.id AND a.n > 0 AND a.kind LIKE
        concat(a.least, '%')) AS q [RANGE 3 TUPLES] GROUP BY id""",
    "pairs of the last rows, behind a condition that protects": """SELECT id, COUNT(*) AS n FROM (SELECT a.id FROM
        (INNER [RANGE 3 TUPLES] GROUP BY id) AS a [RANGE 2 TUPLES], Pulses [RANGE 9 seconds] AS b
        WHERE floor(1 / (a.n - 1)) = b.v % 2 AND a.n > 1) AS q [RANGE 3 TUPLES] GROUP BY id""",
    "pairs of the last rows, by a column of one side, twice": """SELECT id, COUNT(*) AS n FROM (SELECT
        concat(a.kind, b.v) AS id FROM (INNER [RANGE 3 TUPLES] GROUP BY id) AS a [RANGE 2 TUPLES], Pulses
        [RANGE 9 seconds] AS b WHERE substring(a.kind, 2) = substring(CAST(b.v AS STRING), 2) AND b.v > a.n) AS q
        [RANGE 3 TUPLES] GROUP BY id""",
    "the last of pairs, with a column that may fail": """SELECT id, SUM(n) AS n FROM (SELECT q.id,
        SUM(floor(6 / (q.w - 1))) AS n FROM (SELECT r.id, p.v AS w FROM Readings [RANGE 30 seconds] AS r, Pulses
        [RANGE 30 seconds] AS p WHERE r.id = p.id AND p.v > 1) AS q [RANGE 5 TUPLES] GROUP BY q.id) AS P
        [FREQUENCY 2 TUPLES] GROUP BY id""",
    "three of the last rows, by columns of pairs, twice": """SELECT id, COUNT(*) AS n FROM (SELECT a.id FROM
        (INNER [RANGE 3 TUPLES] GROUP BY id) AS a [RANGE 2 TUPLES], Pulses [RANGE 9 seconds] AS b, Readings
        [RANGE 4 TUPLES] AS c WHERE a.id = b.id AND a.n < b.v AND substring(a.kind, b.id) = substring(c.kind, b.id) AND
        c.kind >= substring(a.least, b.id) AND upper(a.kind) = upper(c.kind)) AS q [RANGE 3 TUPLES] GROUP BY id""",
    "windows of the last rows that meet": """SELECT P.same, q.m FROM (SELECT id, LIKE_LEAST AS same FROM
        (INNER [RANGE 3 TUPLES, FREQUENCY 4 seconds] GROUP BY id) AS I) AS P, (SELECT id, MAX(v) AS m FROM Pulses
        [RANGE 2 TUPLES, FREQUENCY 4 seconds] GROUP BY id) AS q WHERE P.id = q.id""",
}


class CutKernel:
    """The parts of a changelog's tree as one kernel, where the interpreter computes the columns between them."""

    def __init__(self, plan: EnginePlan, net: bool = False, root: Node | None = None) -> None:
        self.query = plan
        self.parts: dict[str, tuple[CutKernel, Compute]] = {}
        self.own = ChangelogKernel(cut_tree(plan, root or plan.root, self._handed), net)

    def _handed(self, name: str, step: Compute, child: Node) -> Input:
        below = CutKernel(self.query, root=child)
        self.parts[name] = below, step
        rows = with_columns(handed_rows(of_tuples(below.own.operators.sample)), step, "")
        return input_from([(field.name, type_name(field.type)) for field in rows.schema], below.own.query)

    @property
    def count(self) -> int:
        return 1 + sum(below.count for below, _ in self.parts.values())

    def init(self) -> tuple[State, dict]:
        return State(), {name: below.init() for name, (below, _) in self.parts.items()}

    def step(self, states, batches, marks, *, everything=False):
        state, others = states
        mark, given, after = min_of(marks), dict(batches), {}
        for name, (below, step) in self.parts.items():
            made = below.step(others[name], batches, mark, everything=everything)
            after[name] = made.state
            given[name] = with_columns(handed_rows(made.log), step, "")
        made = self.own.step(state, given, mark, everything=everything)
        return made._replace(state=(through_bytes(made.state), after))


def min_of(marks: int | dict[str, int]) -> int:
    """The punctuation that Spark's watermark gives to every operator."""
    return marks if isinstance(marks, int) else min(marks.values())


@pytest.mark.parametrize("name", CHANGELOGS)
def test_the_parts_of_a_changelog_around_spark_are_that_of_the_interpreter(name: str):
    plan = bound(f"{CHANGELOGS[name]} EMIT CHANGES")
    divided = split(plan)
    kernel = CutKernel(changes_of(divided.core))
    assert divided.after is None
    assert kernel.count == (3 if "twice" in name else 2)
    count = 0
    for seed in range(8):
        read = [scan.stream for scan in walk(plan) if isinstance(scan, Scan)]
        feeds = make_feeds(Seeded(seed), sorted(set(read)), punctuation="trailing", unit=SECOND, max_rows=16)
        found = run(kernel, given_by_streams(plan, computed_feeds(divided.entries, feeds)), stored=False)
        check_same(found, interpret(plan, feeds, flush=True))
        count += len(found.changes)
    assert count > 10


SHAPES = {"anything": WHOLE, "subqueries": SUBQUERIES, "boundaries": MEETING}


def next_cut(seed: int, shape: Shape) -> Case:
    """Return the next random plan that has a meaning and is cut, from a seed on."""
    for number in range(seed, seed + 9999):
        case = seeded_case(number, shape, max_rows=10)
        try:
            nodes = changes_of(split(case.plan).core).nodes
        except QueryError as error:
            assert error.code == "SW-243"
            continue
        if any(isinstance(node, Over) and isinstance(node.step, Compute) for node in nodes):
            return end(case)
    raise AssertionError("no plan is cut")


@settings(max_examples=law_cases(10), deadline=None)
@pytest.mark.parametrize("shape", SHAPES)
@given(seed=st.integers(0, 2**40))
def test_the_parts_of_any_changelog_around_spark_are_that_of_the_interpreter(shape: str, seed: int):
    case = next_cut(seed, SHAPES[shape])
    divided = split(case.plan)
    kernel = CutKernel(changes_of(divided.core))
    found = run(kernel, given_by_streams(case.plan, computed_feeds(divided.entries, case.feeds)), stored=False)
    names = schema_of(case.plan).names
    finished = [(each, finished_row(divided.after, tuple(each.row.values()))) for each in found.changes]
    changes = [replace(each, row=dict(zip(names, row, strict=True))) for each, row in finished if row is not None]
    check_same(replace(found, changes=changes), interpret(case.plan, case.feeds, flush=True))


NESTED = """SELECT {0} AS told, COUNT(*) AS n FROM (SELECT id, MAX(kind) AS k, window_end AS e FROM S
    [RANGE 1 DAY SLIDE 12 HOURS] GROUP BY id) AS P [RANGE 3 TUPLES] GROUP BY {0}"""
PLAIN = """SELECT id, MAX(kind) AS k, window_end AS e, row_number FROM S [RANGE 1 DAY SLIDE 12 HOURS] GROUP BY id"""


@pytest.mark.parametrize("told", ["date_format(e, 'dd HH')", "soundex(k)", "backwards(k)"])
def test_any_function_and_udf_of_spark_may_stand_in_the_middle(spark: SparkSession, told: str):
    spark.udf.register("backwards", lambda text: None if text is None else text[::-1], "string")
    found = answer(rows(spark), NESTED.format(told))
    numbers = answer(rows(spark), NESTED.format("k" if "k" in told else "e"))
    kind = "k string" if "k" in told else "e timestamp"
    plain = spark.createDataFrame([(row[0],) for row in numbers.elements()], kind)
    assert {row[0] for row in found} == {row[0] for row in plain.selectExpr(told).collect()}
    assert sum(found.values()) > 4


SCRIPT = "CREATE SINK answers USING parquet OPTIONS (path '{folder}/answers'); INSERT INTO answers {query};"


ON_SPARK = ("a range", "both sides of EXCEPT, twice", "row_number")
SLOWLY = (
    "a select list, twice",
    "two streams",
    "one side of a join",
    "a stream beside itself",
    "a changelog beside itself, twice",
    "three of the last rows, by columns of pairs, twice",
)


@pytest.mark.parametrize("name", [*ON_SPARK, *(pytest.param(each, marks=pytest.mark.slow) for each in SLOWLY)])
def test_a_cut_changelog_on_spark_is_that_of_its_parts(spark, tmp_path, name: str):
    plan = bound(f"{CHANGELOGS[name]} EMIT CHANGES")
    streams = sorted({scan.stream for scan in walk(plan) if isinstance(scan, Scan)})
    made = (make_feeds(Seeded(seed), streams, punctuation="trailing", unit=SECOND, max_rows=40) for seed in range(99))
    kernel = CutKernel(changes_of(plan), net=True)
    feeds, wanted = next((each, told) for each in made if len(told := expected(plan, each, kernel)) > 3)
    assert changelog_found(spark, plan, feeds, CATALOG, tmp_path) == wanted


def test_a_cut_changelog_of_batch_dataframes_uses_functions_of_spark(spark: SparkSession):
    text = "SELECT {0} AS told, SUM(n) AS n FROM (SELECT id, MAX(kind) AS k, COUNT(*) AS n FROM S GROUP BY id) AS P"
    spark.udf.register("backwards", lambda text: None if text is None else text[::-1], "string")
    for each in ("soundex(k)", "backwards(k)"):
        found = answer(rows(spark), f"{text.format(each)} GROUP BY {each} EMIT CHANGES")
        lived = rows(spark).groupBy("id").agg(F.max("kind").alias("k"), F.count("*").alias("n"))
        wanted = lived.groupBy(F.expr(each).alias("told")).agg(F.sum("n")).collect()
        assert {row[-2:] for row in found} == set(map(tuple, wanted)) and len(wanted) > 1


def test_a_cut_chain_on_spark_answers_as_the_interpreter_does_across_a_restart(spark, tmp_path, monkeypatch):
    feed = make_feed(Seeded(27), CATALOG.streams[0], punctuation="trailing", unit=SECOND, max_rows=60, max_batches=4)
    text = written(QUERIES["in an outer group"])
    fed = Feed((*feed.batches[:2], FeedBatch(), *feed.batches[2:], FeedBatch()))
    wanted = interpret(bound(text), {"Readings": fed})
    assert len(feed.batches) == 4 and len(wanted.rows) > 9
    script = SCRIPT.format(query=text, folder=tmp_path)
    ((main, sides),) = group_by_query(parse_script(script, catalog=CATALOG).pipelines)
    for batches in (2, 4):
        monkeypatch.setattr(steering, "Control", partial(Punctuations, Feed(fed.batches[: batches + 1])))
        given_rows, _ = _written(spark, CATALOG.streams[0], feed, batches, tmp_path)
        running = start(main, {"Readings": given_rows}, tmp_path / "check", Manner(available_now=True), sides=sides)
        list(running.progress())
    found = read(spark, tmp_path / "answers")
    assert found == Counter(tuple(map(_plain, row.row.values())) for row in wanted.rows)
