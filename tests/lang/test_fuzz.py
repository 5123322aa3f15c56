"""Queries with something broken in them: a plan or an error of ours with its place, and never anything else."""

import random
import string
from pathlib import Path

import pytest
from tests.lang.random_queries import Queries
from tests.lang.streams import CATALOG, DECLARATIONS

from slackwater.algebra.catalog import Catalog
from slackwater.errors import QueryError
from slackwater.lang import bind_query, parse_script, print_query
from slackwater.lang.parsing.lexing import tokens_of
from slackwater.lang.parsing.source_text import SourceText

pytestmark = pytest.mark.long

SEED = 20240229
WORDS = [
    *(
        "SELECT",
        "FROM",
        "WHERE",
        "GROUP",
        "BY",
        "HAVING",
        "UNION",
        "ALL",
        "EXCEPT",
        "MINUS",
        "EMIT",
        "FINAL",
        "CHANGES",
    ),
    *("WITH", "SYNC", "ON", "AS", "JOIN", "DISTINCT", "[", "]", "(", ")", ",", ".", ";", "*", "+", "-", "/", "%", "="),
    *(
        "<",
        ">",
        "'",
        '"',
        "`",
        "--",
        "/*",
        "*/",
        "${",
        "}",
        "$",
        "@",
        "?",
        ":",
        "::",
        "->",
        "\\",
        "0",
        "1",
        "5%",
        "1.5",
    ),
    *("1e9", "'x'", "NULL", "TRUE", "RANGE", "SLIDE", "WATTR", "SLACK", "DRATIO", "WITHIN", "BSIZE", "IDLE", "SKEW"),
    *("FREQUENCY", "PARTITIONED", "minutes", "tuples", "CASE", "WHEN", "THEN", "END", "CAST", "INTERVAL", "NOT", "IN"),
    *("LIKE", "IS"),
    *("BETWEEN", "COUNT(*)", "MAX(", "OVER", "FILTER", "LATERAL", "VIEW", "LIMIT", "ORDER", "CREATE", "STREAM", "SINK"),
    *("USING", "OPTIONS", "INSERT", "INTO", "EXPLAIN", "SET", "VALUES", "row_time", "window_end", "EXISTS", "ARRAY<"),
    *("STRUCT<", ">>", "{a:1}", "/*+", "\0", "\ufeff", "\u2028", "\U0001f600", "\x1b", "${X}", "x$late", "x$rejected"),
]
PAPERS = [path.read_text() for path in sorted((Path(__file__).parents[2] / "examples" / "papers").glob("*.sql"))]


def broken(text: str, rng: random.Random) -> str:
    """Return the text with some of its words lost, doubled, swapped, replaced, or with characters changed."""
    words = [text[token.start : token.end + 1] for token in tokens_of(SourceText(text), {})]
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(words))
        match rng.randrange(7):
            case 0:
                del words[at : at + rng.randint(1, 3)]
            case 1:
                words[at:at] = words[at : at + rng.randint(1, 4)]
            case 2:
                other = rng.randrange(len(words))
                words[at], words[other] = words[other], words[at]
            case 3:
                words[at] = rng.choice(WORDS)
            case 4:
                words.insert(at, rng.choice(WORDS))
            case 5:
                words = words[: at + 1]
            case 6:
                place = rng.randrange(len(words[at]) + 1)
                words[at] = words[at][:place] + rng.choice(string.printable) + words[at][place + 1 :]
        words = words or ["SELECT"]
    return " ".join(words)


def survives(text: str) -> bool:
    """Return whether the text was parsed. If it was not, check that the error has a code and a place."""
    try:
        script = parse_script(text, catalog=CATALOG, variables={"X": "1"})
    except QueryError as error:
        assert error.code.startswith("SW-"), text
        assert error.place is not None, (text, error)
        assert error.problem.hint, (text, error)
        assert str(error).isprintable() or "\n" in str(error)
        return False
    catalog = Catalog(CATALOG.streams + script.streams, CATALOG.views + script.views)
    for pipeline in script.pipelines:
        if "$" not in str(pipeline.plan):
            assert bind_query(print_query(pipeline.plan), catalog) == pipeline.plan, text
    return True


@pytest.mark.parametrize("part", range(4))
def test_broken_queries(part: int):
    rng = random.Random(SEED + part)
    read = [survives(broken(Queries(rng).query(), rng)) for _ in range(200)]
    assert any(read) and not all(read)


@pytest.mark.parametrize("part", range(2))
def test_broken_scripts(part: int):
    rng = random.Random(SEED - part)
    read = [survives(broken(rng.choice([DECLARATIONS.replace("Sensors", "Other"), *PAPERS]), rng)) for _ in range(60)]
    assert not all(read)


def test_words_at_random():
    rng = random.Random(SEED)
    for _ in range(400):
        survives(" ".join(rng.choices(WORDS, k=rng.randint(1, 30))))


def test_characters_at_random():
    rng = random.Random(SEED)
    letters = string.printable + "\0\ufeff\u2028éß日\U0001f600\ud800"
    for _ in range(400):
        survives("".join(rng.choices(letters, k=rng.randint(1, 60))))
