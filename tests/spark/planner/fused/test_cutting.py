"""Chains in stages: where they are cut, that cutting changes nothing, and that Spark hands on what it should."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import count
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.rich import rich_expressions
from tests.engine.running import Given, Ran, close, given_by, run
from tests.engine.test_laws import cut, told
from tests.law_cases import law_cases
from tests.spark.conformance import Punctuations, _plain, _written
from tests.spark.planner.fused.staged import run_in_stages

from slackwater.algebra.nodes import Plan
from slackwater.engine.chain import ChainKernel
from slackwater.lang import bind_query, parse_script
from slackwater.rewrite import rewrite
from slackwater.semantics import Feed, FeedBatch, interpret
from slackwater.spark.operator.handing import hash_rows
from slackwater.spark.planner.fused.chains import chain_of
from slackwater.spark.planner.fused.fuse import describe
from slackwater.spark.planner.fused.stages import CHAIN, Stages, cut_stages
from slackwater.spark.run.pipeline import Manner, start
from slackwater.spark.run.sides import group_by_query
from slackwater.spark.watermark import steering
from slackwater.testing.catalog import CATALOG
from slackwater.testing.choices import Seeded
from slackwater.testing.plans import Case, Shape, seeded_case
from slackwater.testing.streams import make_feed

SECOND = 1_000_000
FAR = 400
NESTED = Shape(joins=False, sets=False)
RATES = """SELECT id, kind, COUNT(*) AS n [FREQUENCY 2 TUPLES PARTITIONED BY id]
    FROM Readings [RANGE 5 seconds] GROUP BY id, kind"""
CHAINS = {
    "of all": "SELECT AVG(n) AS mean, LAST(id) AS last FROM (RATES) AS P [RANGE 3 TUPLES]",
    "by another": """SELECT kind, LAST(id) AS last, SUM(n) AS n FROM (RATES) AS P
        [RANGE 9 TUPLES, FREQUENCY 1 TUPLE PARTITIONED BY kind] GROUP BY kind""",
    "sampled twice": """SELECT id, kind, v [FREQUENCY 2 TUPLES PARTITIONED BY id]
        FROM Readings [FREQUENCY 2 TUPLES PARTITIONED BY kind]""",
    "of boundaries": """SELECT FIRST(id) AS first, LAST(kind) AS last, MAX(n) AS n FROM
        (SELECT id, kind, COUNT(*) AS n FROM Readings [RANGE 6 seconds SLIDE 2 seconds] GROUP BY id, kind) AS P
        [RANGE 3 TUPLES, FREQUENCY 2 TUPLES]""",
    "of jumps": """SELECT kind, COUNT(*) AS n, LAST(id) AS last FROM (SELECT id, LAST(kind) AS kind FROM Readings
        [RANGE 5 TUPLES, FREQUENCY 2 TUPLES PARTITIONED BY id] GROUP BY id) AS P [RANGE 4 TUPLES] GROUP BY kind""",
    "of slots": """SELECT kind, v FROM (SELECT id, kind, v FROM Readings [FREQUENCY 3 seconds PARTITIONED BY id]) AS P
        [FREQUENCY 2 TUPLES PARTITIONED BY kind]""",
}
COLUMNS = {
    "of all": (("id",), ()),
    "by another": (("id",), ("kind",)),
    "sampled twice": (("kind",), ("id",)),
    "of boundaries": (("id", "kind"), ()),
    "of jumps": (("id",), ()),
    "of slots": (("id",), ("kind",)),
}
BESIDE = """
CREATE SINK answers USING parquet OPTIONS (path '{folder}/answers');
CREATE SINK lateness USING parquet OPTIONS (path '{folder}/lateness');
INSERT INTO answers {query};
INSERT INTO lateness SELECT late_by, punctuation, windows_missed FROM answers$late;
"""
WHOLE = {
    "only row by row before": "SELECT AVG(v) FROM (SELECT id, v FROM Readings WHERE v > 1) AS P [RANGE 3 TUPLES]",
    "one bucket before": """SELECT id, COUNT(*) FROM (SELECT id FROM Readings [FREQUENCY 3 TUPLES]) AS P
        [RANGE 5 seconds] GROUP BY id""",
    "numbered": "SELECT id, row_number FROM Readings [FREQUENCY 2 TUPLES PARTITIONED BY id]",
    "rows of boundaries": """SELECT COUNT(*) FROM (SELECT id, v FROM Readings
        [RANGE 3 TUPLES, FREQUENCY 2 seconds PARTITIONED BY id]) AS P [RANGE 3 TUPLES]""",
}


def bound(text: str) -> Plan:
    return bind_query(text.replace("RATES", RATES), CATALOG)


def chain(text: str) -> ChainKernel:
    return ChainKernel(chain_of(bound(text)))


@pytest.mark.parametrize("name", CHAINS)
def test_each_stage_is_in_buckets_by_what_its_steps_have_in_common(name: str):
    assert cut_stages(chain(CHAINS[name]).chain).columns == COLUMNS[name]


@pytest.mark.parametrize("name", WHOLE)
def test_a_chain_stays_whole_where_a_cut_would_bring_nothing_or_lose_the_order(name: str):
    assert cut_stages(chain(WHOLE[name]).chain).cuts == ()


def test_what_is_said_of_a_chain_names_every_stage_and_why():
    said = str(describe(bound(CHAINS["of all"])))
    assert said.startswith("2 operators in a chain")
    assert "in buckets by id" in said and "in one bucket: RANGE 3 tuples every 1 tuple counts every row" in said
    asked = str(describe(bound(CHAINS["of all"]), chain=False))
    assert asked.startswith("one operator, in one bucket: ") and asked.endswith(f"SET {CHAIN} = true makes it {said}")


def test_what_is_said_of_a_chain_that_cannot_be_cut_says_so():
    assert "the order" in str(describe(bound(WHOLE["rows of boundaries"])))
    assert "the order" not in str(describe(bound(WHOLE["only row by row before"])))


@settings(max_examples=law_cases(8))
@pytest.mark.parametrize("name", CHAINS)
@given(seed=st.integers(0, 2**40), data=st.data())
def test_stages_answer_as_the_interpreter_does(name: str, seed: int, data: st.DataObject):
    plan = bound(CHAINS[name])
    feed = make_feed(Seeded(seed), CATALOG.streams[0], punctuation="trailing", unit=SECOND, max_rows=40)
    batches = [*given_by(feed, flush=False), ((), FAR * SECOND)]
    kernel = chain(CHAINS[name])
    found = cut_stages(kernel.chain)
    ended = Feed((*feed.batches[:-1], FeedBatch(feed.batches[-1].rows, FAR * SECOND), FeedBatch()))
    wanted = told(interpret(plan, {"Readings": ended}), len(batches))
    same(run_in_stages(kernel.chain, found, batches), wanted, found)
    again = data.draw(cut(batches))
    same(run_in_stages(kernel.chain, found, again), run(kernel, again), found)


@settings(max_examples=law_cases(25))
@given(seed=st.integers(0, 2**40), rewritten=st.booleans())
def test_random_plans_answer_in_stages_as_in_one_kernel(seed: int, rewritten: bool):
    with rich_expressions():
        case, kernel, found = a_chain(seed, rewritten)
        ((_, feed),) = case.feeds.items()
        batches: list[Given] = [*given_by(feed, flush=False), ((), FAR)]
        same(run_in_stages(kernel.chain, found, batches), run(kernel, batches), found)


def a_chain(seed: int, rewritten: bool) -> tuple[Case, ChainKernel, Stages]:
    """Return the first random plan, from this seed on, that is cut."""
    for each in count(seed):
        case = seeded_case(each, NESTED)
        kernel = ChainKernel(chain_of(rewrite(case.plan).plan if rewritten else case.plan))
        found = cut_stages(kernel.chain)
        if found.cuts:
            return case, kernel, found
    raise AssertionError


def same(found: Ran, wanted: Ran, how: Stages) -> None:
    """Return whether each batch has the same rows, and in the same order if the last stage is one bucket."""
    in_order = not how.columns[-1]
    for number, rows in enumerate(wanted.rows):
        assert close(found.rows[number], rows) if in_order else ordered(found.rows[number]) == ordered(rows)


def ordered(rows: list[tuple[tuple[object, ...], int]]) -> list[str]:
    return sorted(repr([round(v, 9) if isinstance(v, float) else v for v in row] + [time]) for row, time in rows)


def test_a_hash_depends_on_what_group_by_tells_apart_alone():
    one, two = pa.array([1, None, 2, 1]), pa.array(["a", "b", None, "a"])
    found = hash_rows([one, two])
    assert found[0] == found[3] and len(set(found.tolist())) == 3
    assert hash_rows([pa.array([7], pa.timestamp("us", "UTC"))]) == hash_rows([pa.array([7])])
    assert len(set((hash_rows([pa.array(range(1000))]) % 8).tolist())) == 8


@pytest.mark.slow
def test_a_chain_on_spark_answers_as_the_interpreter_does_across_a_restart(spark, tmp_path, request, monkeypatch):
    feed = make_feed(Seeded(27), CATALOG.streams[0], punctuation="trailing", unit=SECOND, max_rows=60, max_batches=4)
    plan = bound(CHAINS["by another"])
    fed = Feed((*feed.batches[:2], FeedBatch(), *feed.batches[2:], FeedBatch()))
    wanted = interpret(plan, {"Readings": fed})
    late = Counter((each.late_by, each.punctuation, each.missed) for each in wanted.late)
    assert len(feed.batches) == 4 and len(late) > 2 and len(wanted.rows) > 9
    text = BESIDE.format(query=CHAINS["by another"].replace("RATES", RATES), folder=tmp_path)
    ((main, sides),) = group_by_query(parse_script(text, catalog=CATALOG).pipelines)
    spark.conf.set(CHAIN, "true")
    request.addfinalizer(lambda: spark.conf.unset(CHAIN))
    for batches in (2, 4):
        monkeypatch.setattr(steering, "Control", partial(Punctuations, Feed(fed.batches[: batches + 1])))
        rows, _ = _written(spark, CATALOG.streams[0], feed, batches, tmp_path)
        running = start(main, {"Readings": rows}, tmp_path / "check", Manner(available_now=True), sides=sides)
        list(running.progress())
    made, told = (read(spark, tmp_path / name) for name in ("answers", "lateness"))
    assert told == late
    assert made == Counter(tuple(map(_plain, row.row.values())) for row in wanted.rows)


def read(spark, folder: Path) -> Counter[tuple[object, ...]]:
    return Counter(tuple(map(_plain, row)) for row in spark.read.parquet(str(folder)).drop("batch").collect())
