"""The page of the language: what it lists as not supported is refused, and every clause of the parser is on it."""
# ruff: noqa: S608 (statements are put together from texts)

import pytest
from tests.docs.blocks import ROOT

from slackwater.app.shell.completion import CLAUSES
from slackwater.disorder import ESTIMATORS
from slackwater.errors import SlackwaterError
from slackwater.lang import parse_script

PAGE = (ROOT / "docs" / "language.md").read_text()
STREAMS = """CREATE STREAM S (k STRING, v INT, ts TIMESTAMP) USING json OPTIONS (path 's') TIMESTAMP BY ts;
CREATE STREAM R (k STRING, w INT, ts TIMESTAMP) USING json OPTIONS (path 'r') TIMESTAMP BY ts;"""


@pytest.mark.parametrize(
    ("word", "query"),
    [
        ("LIMIT", "SELECT k FROM S [RANGE 1 minute SLIDE 1 minute] LIMIT 3"),
        ("LEFT", "SELECT S.k FROM S [RANGE 5 seconds] LEFT JOIN R [RANGE 5 seconds] ON S.k = R.k"),
        ("session windows", "SELECT COUNT(*) FROM S GROUP BY session_window(ts, '5 minutes')"),
        ("OVER", "SELECT ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) FROM S"),
        ("IN (SELECT", "SELECT k FROM S WHERE k IN (SELECT k FROM R)"),
        ("EXISTS", "SELECT k FROM S WHERE EXISTS (SELECT k FROM R)"),
        ("ORDER BY", "SELECT k FROM S ORDER BY ts"),
    ],
)
def test_what_is_not_supported_is_refused_with_a_hint(word: str, query: str):
    with pytest.raises(SlackwaterError) as caught:
        parse_script(STREAMS + query)
    assert caught.value.code in ("SW-140", "SW-141")
    assert "do:" in str(caught.value)
    assert word in PAGE.partition("## What is not supported")[2]


@pytest.mark.parametrize("alias", ["EMIT ON WINDOW CLOSE", "EMIT ON UPDATE"])
def test_aliases_of_emit_are_accepted(alias: str):
    assert f"`{alias}`" in PAGE
    assert parse_script(f"{STREAMS} SELECT MAX(v) AS top FROM S [RANGE 5 seconds SLIDE 5 seconds] {alias}").pipelines


def test_every_clause_is_on_the_page():
    assert [each for each in CLAUSES if each not in PAGE] == []
    assert "budget" in ESTIMATORS
