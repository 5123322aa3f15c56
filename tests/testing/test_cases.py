"""Cases from Python and from pytest."""
# ruff: noqa: S608 (cases are put together from texts)

from pathlib import Path

import pytest

import slackwater as sw
from slackwater.errors import QueryError

pytest_plugins = ["pytester"]

STREAMS = "CREATE STREAM Clicks (page STRING, ts TIMESTAMP) USING json TIMESTAMP BY ts;"
CASE = """
    SELECT COUNT(*) AS n FROM Clicks [RANGE 10 seconds SLIDE 10 seconds]

    Clicks | ts | page
    0      | 3  | home
    0      | 8  | cart
    flush
"""
RESULT = """
    result | time | n
    1      | 10-  | {}
"""


def test_run_case_returns_what_was_found():
    found = {"result": [{"batch": 1, "time": 9_999_999, "n": 2}]}
    assert sw.testing.run_case(CASE + RESULT.format(2), STREAMS) == found
    assert sw.testing.run_case(CASE, STREAMS) == found, "a case without tables of output is not compared"


def test_run_case_raises_the_difference():
    with pytest.raises(sw.testing.CaseFailed, match=r"- 1 +\| 10-  \| 3\n  \+ 1 +\| 10-  \| 2\n"):
        sw.testing.run_case(CASE + RESULT.format(3), STREAMS)
    with pytest.raises(QueryError, match="no column 'pge'"):
        sw.testing.run_case("SELECT pge FROM Clicks\n\nClicks | ts\n0 | 1", STREAMS)
    with pytest.raises(ValueError, match="flink"):
        sw.testing.run_case(CASE, STREAMS, engine="flink")


def test_run_case_takes_a_file_of_queries(tmp_path):
    file = tmp_path / "clicks.sql"
    file.write_text(f"{STREAMS}\nCREATE SINK pages USING console;\nINSERT INTO pages SELECT page FROM Clicks;")
    found = sw.testing.run_case("INSERT INTO pages\n\nClicks | ts | page\n0 | 1 | home\nflush", file)
    assert [row["page"] for row in found["result"]] == ["home"]


PAGE = f"""
```sql
{STREAMS}
```
## Two clicks
```example
SELECT page FROM Clicks

Clicks | ts | page
0      | 1  | home
flush

result | page
1      | {{}}
```
"""


def test_run_cases_runs_a_page(tmp_path):
    file = tmp_path / "page.md"
    file.write_text(PAGE.format("home"))
    assert sw.testing.run_cases(file) == 1
    file.write_text(PAGE.format("cart"))
    with pytest.raises(sw.testing.CaseFailed, match=r"Two clicks \(page.md:6\)"):
        sw.testing.run_cases(str(file))


def test_the_plugin_collects_pages(pytester: pytest.Pytester):
    pytester.path.joinpath("good_cases.md").write_text(PAGE.format("home"))
    pytester.path.joinpath("bad_cases.md").write_text(PAGE.format("cart"))
    pytester.path.joinpath("broken_cases.md").write_text("```sql\nSELEC\n```\n```example\n```\n")
    pytester.path.joinpath("use_cases.md").write_text("# no block at all\n")
    pytester.path.joinpath("other.md").write_text(PAGE.format("home"))
    found = pytester.runpytest(
        "-p", "slackwater.testing.plugin", "-p", "no:slackwater", "--continue-on-collection-errors"
    )
    found.assert_outcomes(passed=1, failed=1, errors=1)
    found.stdout.fnmatch_lines(["*result: 1 row not as expected*", "  - 1      | cart", "  + 1      | home"])
    assert "Traceback" not in found.stdout.str()
    pytester.runpytest("-p", "slackwater.testing.plugin", "-p", "no:slackwater", "other.md").assert_outcomes(passed=1)


def test_the_plugin_is_an_entry_point():
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert '[project.entry-points.pytest11]\nslackwater = "slackwater.testing.plugin"' in project
