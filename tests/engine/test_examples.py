"""The page that says what queries mean, run by kernels: every example over one stream that has a final answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engine.running import Ran, close, given_by, ran, run

from slackwater.algebra.nodes import Emit, Join, Minus, Mode, Scan, Union, walk
from slackwater.algebra.properties.columns import schema_of
from slackwater.app.testing.answers import EngineAnswers, tables_of
from slackwater.app.testing.case import QueryCase
from slackwater.app.testing.case_reader import read_cases
from slackwater.app.testing.differences import differences
from slackwater.app.testing.page import load_page
from slackwater.engine.chain import ChainKernel
from slackwater.lang import bind_query, parse_script
from slackwater.semantics import Answer, interpret
from slackwater.semantics.feeds import Feed
from slackwater.semantics.rows import Result
from slackwater.spark.planner.fused.chains import chain_of

PAGE = Path(__file__).parents[2] / "docs" / "semantics.md"


def is_chain(example: QueryCase) -> bool:
    nodes = walk(example.plan)
    final = not any(isinstance(node, Emit) and node.mode is Mode.CHANGES for node in nodes)
    scans = sum(isinstance(node, Scan) for node in nodes)
    return final and scans == 1 and not any(isinstance(node, Join | Union | Minus) for node in nodes)


EXAMPLES = [example for example in read_cases(load_page(PAGE)) if is_chain(example)]


ASIDE = ("sync", "late", "rejected")
"""What no kernel says: Spark tells late and rejected rows from the stream itself."""


def answer_of(example: QueryCase) -> Answer:
    """Return the output of the kernel as an answer of the interpreter."""
    (feed,) = example.feeds.values()
    found = run(ChainKernel(chain_of(example.plan)), given_by(feed, example.flush))
    columns = [schema_of(example.plan).reference(field) for field in schema_of(example.plan)]
    rows = [
        Result(dict(zip(columns, values, strict=True)), time, batch)
        for batch, each in enumerate(found.rows)
        for values, time in each
    ]
    return Answer(tuple(rows))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.title)
def test_the_answer_is_the_one_worked_out_by_hand(example: QueryCase):
    found = EngineAnswers(tables_of(example, answer_of(example)), unknown=frozenset(ASIDE))
    assert differences(example, found) == []


def test_most_of_the_page_is_run():
    assert len(EXAMPLES) >= 25


ANIMALS = """
CREATE STREAM Pulse (Id INT, Timestamp TIMESTAMP) USING rate OPTIONS (a '1') TIMESTAMP BY Timestamp;
CREATE STREAM BodyCondition (Id INT, Species STRING, BTemp DOUBLE, BloodP DOUBLE, Timestamp TIMESTAMP)
    USING rate OPTIONS (a '1') TIMESTAMP BY Timestamp;
CREATE STREAM Traffic (speed DOUBLE, timestamp TIMESTAMP) USING rate OPTIONS (a '1') TIMESTAMP BY timestamp;
CREATE STREAM Sensors (vehID INT, speed DOUBLE, value DOUBLE, ts TIMESTAMP) USING rate OPTIONS (a '1') TIMESTAMP BY ts;
"""
QUERIES = {
    "CSQL 1(a)": "SELECT * FROM BodyCondition AS B WHERE [Range 1 Minute, Frequency 100 Tuples] B.Species = 'horse'",
    "CSQL 1(b)": "SELECT * [Frequency 100 Tuples] FROM BodyCondition AS B [Range 1 Minute] WHERE B.Species = 'horse'",
    "CSQL 1(c)": "SELECT * [Frequency 100 Tuples Partitioned By B.Id] FROM BodyCondition B [Range 1 Minute] "
    "WHERE B.Species = 'horse'",
    "CSQL 2": "SELECT * [Frequency 1 Minute Partitioned By B.Id] FROM BodyCondition B "
    "[Frequency 100 Tuples Partitioned By B.Id]",
    "CSQL 3": "SELECT P.Id, COUNT(*) [Frequency 10 Tuples Partitioned By P.Id] FROM Pulse P "
    "[Range 1 Minute, Frequency 1 Tuple] GROUP BY P.Id",
    "CSQL 4": "SELECT PR.Id, AVG(PR.Rate) [Frequency 1 Minute Partitioned By PR.Id] FROM "
    "(SELECT P.Id, COUNT(*) [Frequency 10 Tuples Partitioned By P.Id] AS Rate FROM Pulse P "
    "[Range 1 Minute, Frequency 1 Tuple] GROUP BY P.Id) AS PulseRate PR [Range 1 Hour, Frequency 1 Tuple] "
    "GROUP BY PR.Id",
    "ADC": "SELECT MAX(speed) FROM Traffic [RANGE 5 minutes SLIDE 1 minute WATTR timestamp SLACK 10]",
    "ADC-J": "SELECT MAX(value) FROM Sensors [RANGE 30 seconds, DRATIO 1%]",
    "WIN": "SELECT vehID, speed FROM Sensors [RANGE 300 seconds SLIDE 30 seconds WATTR ts] GROUP BY vehID "
    "HAVING AVG(speed) > 80",
    "WIN without GROUP BY": "SELECT vehID, speed FROM Sensors [RANGE 60 seconds SLIDE 30 seconds WATTR ts SLACK 10]",
}
SECOND = 1_000_000


def stream() -> Feed:
    """Return 500 rows over 5 minutes in 5 batches. Every 37th is up to 20 s late; punctuations are 5 s behind."""
    kinds = ("horse", "cow", "horse", "emu")
    rows = []
    for number in range(500):
        time = (number * 0.6 - (number % 37 == 0) * (number % 20)) * SECOND
        animal = (number * 7) % 4
        row = {"Id": animal, "Species": kinds[animal], "BTemp": 37.0 + number % 3, "BloodP": 80.0 + number % 50}
        row |= {"vehID": animal, "speed": 60.0 + number % 45, "value": float(number % 101)}
        rows.append(row | dict.fromkeys(("Timestamp", "timestamp", "ts"), int(time)))
    marks = [int((100 * batch * 0.6 - 5) * SECOND) for batch in range(1, 6)]
    return Feed.of(rows, marks, cuts=range(100, 500, 100))


@pytest.mark.parametrize("name", QUERIES)
def test_queries_of_the_papers_as_printed(name: str):
    plan = bind_query(QUERIES[name], parse_script(ANIMALS).catalog)
    (scan,) = [node for node in walk(plan) if isinstance(node, Scan)]
    answer = interpret(plan, {scan.stream: stream()}, flush=True)
    found: Ran = ran(plan, stream())
    rows = [[(tuple(row.row.values()), row.time) for row in answer.rows if row.batch == batch] for batch in range(6)]
    assert any(rows)
    assert close(found.rows, rows)
