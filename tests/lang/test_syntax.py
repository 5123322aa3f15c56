"""Mistakes of syntax: the code, what is underlined, what was expected."""
# ruff: noqa: S608 (no query here reaches a database)

import logging

import pytest
from tests.lang.streams import CATALOG, refused, underlined

from slackwater.errors import QueryError
from slackwater.lang import bind_query


@pytest.mark.parametrize(
    ("query", "code", "at", "expected"),
    [
        ("SELECT vehID FROM Sensors garbage more", "SW-101", "more", ""),
        ("SELECT speed vehID segment FROM Sensors", "SW-101", "segment", ""),
        ("SELECT vehID, FROM Sensors", "SW-101", "FROM", "a column"),
        ("SELECT , vehID FROM Sensors", "SW-101", ",", "a column"),
        ("SELECT FROM Sensors", "SW-101", "FROM", "columns"),
        ("SELECT", "SW-101", "", "columns"),
        ("SELECT vehID FROM", "SW-101", "", "a stream"),
        ("SELECT vehID FROM WHERE speed > 1", "SW-101", "WHERE", "a stream"),
        ("SELECT vehID FROM Sensors,", "SW-101", "", "a stream"),
        ("SELECT vehID FROM Sensors WHERE", "SW-101", "", "a condition after WHERE"),
        ("SELECT vehID FROM Sensors WHERE GROUP BY vehID", "SW-101", "GROUP BY", "a condition after WHERE"),
        ("SELECT vehID FROM Sensors WHERE speed >", "SW-101", "", "an expression after '>'"),
        ("SELECT vehID FROM Sensors WHERE speed = 3 vehID = 4", "SW-101", "vehID", ""),
        ("SELECT vehID FROM Sensors WHERE speed > 1 AND", "SW-101", "", "an expression after 'AND'"),
        ("SELECT vehID FROM Sensors WHERE speed > 1 WHERE speed > 2", "SW-123", "WHERE", "each clause once"),
        ("SELECT vehID FROM Sensors EMIT FINAL EMIT FINAL", "SW-123", "EMIT", "each clause once"),
        ("SELECT speed + FROM Sensors", "SW-101", "FROM", "an expression after '+'"),
        ("SELECT f(speed,) FROM Sensors", "SW-101", ",", ""),
        ("SELECT CASE WHEN speed > 1 THEN 2 FROM Sensors", "SW-101", "2", "'END'"),
        ("SELECT CAST(speed AS) FROM Sensors", "SW-101", ")", "type"),
        ("SELECT vehID AS FROM Sensors", "SW-101", "AS", "a name after AS"),
        ("SELECT vehID FROM Sensors AS WHERE speed > 1", "SW-101", "speed", ""),
        ("SELECT vehID FROM Sensors AS [RANGE 1 minute]", "SW-101", "[", "an alias after AS"),
        ("SELECT vehID FROM Sensors GROUP vehID", "SW-101", "GROUP", ""),
        ("SELECT vehID FROM Sensors GROUP BY", "SW-101", "", "columns after GROUP BY"),
        ("SELECT vehID FROM Sensors GROUP BY HAVING MAX(speed) > 1", "SW-101", "HAVING", "columns after GROUP BY"),
        ("SELECT vehID FROM Sensors HAVING", "SW-101", "", "a condition after HAVING"),
        ("SELECT a.vehID FROM Sensors a JOIN Sensors b", "SW-101", "", "ON and a condition"),
        ("SELECT vehID FROM Sensors UNION ALL", "SW-101", "", ""),
        ("SELECT vehID FROM Sensors UNION ALL SELECT", "SW-101", "", "columns"),
        ("SELECT vehID FROM Sensors EMIT", "SW-134", "", "FINAL or CHANGES"),
        ("SELECT vehID FROM Sensors EMIT FINL", "SW-134", "FINL", "FINAL or CHANGES"),
        ("SELECT vehID FROM Sensors EMIT ON CLOSE", "SW-134", "ON", "ON WINDOW CLOSE"),
        ("SELECT COUNT(* FROM Sensors", "SW-120", "(", "')'"),
        ("SELECT (vehID] FROM Sensors", "SW-120", "(", "')'"),
        ("SELECT vehID FROM Sensors)", "SW-121", ")", "'('"),
        ("SELECT 'abc FROM Sensors", "SW-107", "'", "'"),
        ('SELECT "abc FROM Sensors', "SW-107", '"', '"'),
        ("SELECT `abc FROM Sensors", "SW-107", "`", "`"),
        ("SELECT /* abc /* d */ FROM Sensors", "SW-107", "/*", "*/"),
        ("SELECT 'a\\' FROM Sensors", "SW-107", "'", "'"),
        ("SELECT vehID\0 FROM Sensors", "SW-106", "", "text"),
    ],
)  # fmt: skip
def test_mistakes(query: str, code: str, at: str, expected: str):
    error = refused(query)
    assert (error.code, underlined(error).strip()) == (code, at)
    assert expected in error.problem.expected


@pytest.mark.parametrize(
    "text", ["'a'", "'it\\'s'", '"a"', "'--'", "'/*'", "r'\\d'", 'R"\\"', "'`'", "'a' -- '\n", "'a' /* ' /* \" */ ' */"]
)
def test_quotes_and_comments_end_where_they_should(text: str):
    assert bind_query(f"SELECT {text} AS x FROM Sensors", CATALOG)


def test_control_characters_are_not_shown():
    """They would move the underline, or the cursor of the terminal."""
    error = refused("SELECT '\x1b[31m\t', speeed FROM Sensors")
    assert "\x1b" not in str(error)
    assert underlined(error) == "speeed"


@pytest.mark.parametrize(
    "query",
    [
        "SHOW TABLES",
        "SELECT comment FROM Sensors",
        "ADD JAR x",
        "EXPLAIN SELECT 1",
        "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY speed) AS p FROM Sensors [RANGE 1 minute]",
        "SELECT s COLLATE x FROM Sensors",
        "CALL x; SELECT 1",
    ],
)
def test_nothing_is_logged(query: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]):
    with caplog.at_level(logging.DEBUG):
        try:
            bind_query(query, CATALOG)
        except QueryError as error:
            assert error.place is not None
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")
