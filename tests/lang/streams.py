"""The streams that the tests of this folder share, and short ways to bind and to fail."""

from __future__ import annotations

from slackwater.algebra.catalog import Catalog
from slackwater.algebra.nodes import Emit, Plan
from slackwater.errors import QueryError
from slackwater.lang import bind_query, parse_script

DECLARATIONS = """
CREATE STREAM Traffic (segment INT, speed DOUBLE, timestamp TIMESTAMP) USING parquet;
CREATE STREAM Sensors (vehID INT, segment INT, speed DOUBLE, place STRUCT<road: STRING, at: STRUCT<km: INT>>,
                       tags ARRAY<STRING>, ts TIMESTAMP)
    USING parquet TIMESTAMP BY ts;
CREATE STREAM Pulse (Id INT, Timestamp TIMESTAMP) USING parquet TIMESTAMP BY Timestamp;
CREATE STREAM BodyCondition (Id INT, Species STRING, BTemp DOUBLE, BloodP DOUBLE, Timestamp TIMESTAMP)
    USING parquet TIMESTAMP BY Timestamp;
CREATE VIEW Rates AS
    SELECT Id, COUNT(*) AS Rate [FREQUENCY 5 tuples PARTITIONED BY Id] FROM Pulse [RANGE 1 minute] GROUP BY Id;
CREATE VIEW Averages AS
    SELECT segment, AVG(speed) AS average FROM Sensors [RANGE 5 minutes SLIDE 1 minute] GROUP BY segment;
"""
CATALOG: Catalog = parse_script(DECLARATIONS).catalog


def bound(query: str) -> Plan:
    """Return the plan of a query below its Emit."""
    root = bind_query(query, CATALOG)
    assert isinstance(root, Emit)
    return root.child


def refused(query: str) -> QueryError:
    """Return the error of a query that must have one, with its place."""
    try:
        plan = bind_query(query, CATALOG)
    except QueryError as error:
        assert error.place is not None, error
        assert error.problem.hint, error
        return error
    raise AssertionError(f"accepted: {query} as {plan}")


def underlined(error: QueryError) -> str:
    """Return the characters that an error points at."""
    assert error.place is not None
    start = error.place.column - 1
    return error.place.text[start : start + error.place.length]
