"""Text that nobody would write: it is read or refused, soon and without running out of stack or memory.

There are no seconds here: the limits below are what keeps reading short, and each case stands at one of them or far
beyond it. A case that took long would hit the time limit of the suite.
"""
# ruff: noqa: S608 (no query here reaches a database)

import tracemalloc

import pytest
from tests.lang.streams import CATALOG

from slackwater.errors import QueryError
from slackwater.lang import parse_script
from slackwater.lang.parsing.lexing import DEEPEST, LONGEST_TEXT, MOST_TOKENS

pytestmark = pytest.mark.long

N = 10_000
WHERE = "SELECT vehID FROM Sensors WHERE "


def nested(opening: str, inner: str, closing: str, times: int = N) -> str:
    return opening * times + inner + closing * times


BEYOND: dict[str, tuple[str, str]] = {
    "10,000 brackets": (nested("[", "", "]"), "SW-102"),
    "10,000 parentheses": (f"SELECT {nested('(', '1', ')')} FROM Sensors", "SW-102"),
    "5,000 subqueries": (nested("SELECT * FROM (", "SELECT vehID FROM Sensors", ") s", 5_000), "SW-102"),
    "10,000 calls": (f"SELECT {nested('f(', '1', ')')} FROM Sensors", "SW-102"),
    "one bracket too many": (f"SELECT {nested('(', '1', ')', DEEPEST + 1)} FROM Sensors", "SW-102"),
    "a megabyte of a": ("a" * 1_000_000, "SW-103"),
    "a megabyte of blanks": (" " * 1_000_000, "SW-103"),
    "100,000 ORs": (WHERE + " OR ".join(["speed = 1"] * 100_000), "SW-103"),
    "one character too many": ("-" * (LONGEST_TEXT + 1), "SW-103"),
    "20,000 ORs": (WHERE + " OR ".join(["a"] * 20_000), "SW-104"),
    "one word too many": (" ".join(["a"] * (MOST_TOKENS + 1)), "SW-104"),
    "only semicolons": (";" * LONGEST_TEXT, "SW-104"),
    "2,000 ORs": (WHERE + " OR ".join(["speed = 1"] * 2_000), "SW-102"),
    "2,000 ANDs": (WHERE + " AND ".join(["speed = 1"] * 2_000), "SW-102"),
    "2,000 additions": ("SELECT " + " + ".join(["speed"] * 2_000) + " AS x FROM Sensors", "SW-102"),
    "3,000 NOTs": (WHERE + "NOT " * 3_000 + "speed = 1", "SW-102"),
    "3,000 signs": ("SELECT " + "- " * 3_000 + "speed FROM Sensors", "SW-102"),
    "2,000 CASEs": ("SELECT " + nested("CASE WHEN speed = 1 THEN ", "1", " END", 1_000) + " FROM Sensors", "SW-102"),
    "2,000 casts": ("SELECT speed" + "::int" * 2_000 + " FROM Sensors", "SW-102"),
    "2,000 subscripts": ("SELECT tags" + "[0]" * 2_000 + " FROM Sensors", "SW-102"),
    "2,000 fields": ("SELECT place" + ".at" * 2_000 + " FROM Sensors", "SW-102"),
    "nested types": (f"CREATE STREAM x (a {nested('ARRAY<', 'INT', '>', 3_000)}) USING json", "SW-203"),
    "1,000 joins": ("SELECT 1 FROM " + ", ".join(f"Sensors a{n}" for n in range(1_000)), "SW-104"),
    "500 unions": (" UNION ALL ".join(["SELECT vehID FROM Sensors"] * 500), "SW-104"),
    "a string without end": ("SELECT '" + "a" * 100_000, "SW-107"),
    "100,001 quotes": ("'" * 100_001, "SW-107"),
    "comments in comments": ("/*" * 90_000, "SW-107"),
    "a name of 100,000 letters": ("SELECT " + "a" * 100_000 + " FROM Sensors", "SW-103"),
    "a number of 100,000 digits": ("SELECT vehID FROM Sensors [RANGE " + "1" * 100_000 + " minutes]", "SW-114"),
    "variables in variables": ("SELECT " + "${" * 3_000, "SW-150"),
    "the same clause 3,000 times": ("SELECT vehID FROM Sensors [" + "SLACK 1 " * 3_000 + "]", "SW-123"),
    "a NUL": ("SELECT \0 FROM Sensors", "SW-106"),
}  # fmt: skip


@pytest.mark.parametrize("case", BEYOND)
def test_beyond_a_limit(case: str):
    text, code = BEYOND[case]
    with pytest.raises(QueryError) as caught:
        parse_script(text, catalog=CATALOG)
    assert caught.value.code == code
    assert caught.value.place is not None
    assert len(str(caught.value)) < 2_000


WITHIN = {
    "parentheses": f"SELECT {nested('(', '1', ')', DEEPEST - 1)} AS x FROM Sensors",
    "calls": f"SELECT {nested('f(', '1', ')', DEEPEST - 1)} AS x FROM Sensors",
    "arrays": f"SELECT {nested('[', '1', ']', DEEPEST - 1)} AS x FROM Sensors",
    "conditions": WHERE + nested("(speed = 1 AND ", "speed = 1", ")", DEEPEST - 1),
    "lambdas": f"SELECT {nested('transform(tags, x -> ', 'x', ')', 12)} AS x FROM Sensors",
    "cases": f"SELECT {nested('CASE WHEN speed = 1 THEN ', '1', ' END', 30)} AS x FROM Sensors",
    "subqueries": nested("SELECT * FROM (", "SELECT vehID FROM Sensors", ") s", DEEPEST - 1),
    "parentheses around a query": nested("(", "SELECT vehID FROM Sensors", ")", DEEPEST - 1),
    "200 ORs": WHERE + " OR ".join(["speed = 1"] * 200),
    "a list of 4,000 values": WHERE + f"vehID IN ({', '.join(map(str, range(4_000)))})",
    "1,500 items": f"SELECT {', '.join(f'speed + {n} AS a{n}' for n in range(1_500))} FROM Sensors",
    "700 aggregates": f"SELECT {', '.join(f'MAX(speed + {n})' for n in range(700))} FROM Sensors [RANGE 1 minute]",
    "1,500 groups": f"SELECT 1 FROM Sensors [RANGE 1 day] GROUP BY {', '.join(f'speed + {n}' for n in range(1_500))}",
    "3,000 columns": f"CREATE STREAM x ({', '.join(f'a{n} INT' for n in range(3_000))}) USING json",
    "1,500 counts": f"SELECT {', '.join(['COUNT(*)'] * 1_500)} FROM Sensors [RANGE 1 minute]",
    "32 sources": f"SELECT 1 FROM {', '.join(f'Sensors a{n}' for n in range(32))}",
    "60 unions": " UNION ALL ".join(["SELECT vehID FROM Sensors"] * 60),
    "500 statements": "SELECT vehID FROM Sensors;" * 500,
    "1,500 strings": f"SELECT {' '.join(['1'] + [f', {n}' for n in range(1_500)])} FROM Sensors",
    "a string of 100,000 letters": f"SELECT '{'a' * 100_000}' AS x FROM Sensors",
    "50,000 comments": "--\n" * 50_000 + "SELECT vehID FROM Sensors",
}


@pytest.mark.parametrize("case", WITHIN)
def test_within_the_limits(case: str):
    script = parse_script(WITHIN[case], catalog=CATALOG)
    assert script.pipelines or script.streams


@pytest.mark.parametrize("case", ["10,000 brackets", "2,000 ORs"])
def test_memory(case: str):
    """Far below the 512 MB that reading may take; tokens of the longest text are the most that is held."""
    tracemalloc.start()
    with pytest.raises(QueryError):
        parse_script(BEYOND[case][0], catalog=CATALOG)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200_000_000
