"""`sw.testing.run_case` and `run_cases`: the command `slackwater test` for Python."""

from __future__ import annotations

from inspect import cleandoc
from pathlib import Path
from typing import Any

from slackwater.app.load import variables
from slackwater.app.testing.answers import answers_of
from slackwater.app.testing.engine import Engine
from slackwater.app.testing.page import load_page, read_page
from slackwater.app.testing.run import Outcome, run_block, run_page

DECLARED = "```sql\n{}\n```\n"
CASE = "## the case\n```example\n{}\n```\n"
NAME = Path("case.md")

Rows = dict[str, list[dict[str, Any]]]
"""The rows of each output table, by its name."""


class CaseFailed(AssertionError):  # noqa: N818 (an assertion that failed is no error of ours)
    """A case did not return what it expects; the message shows the difference."""

    def __init__(self, outcomes: list[Outcome]) -> None:
        self.outcomes = outcomes
        told = (f"{each.block.title} ({each.place})\n{each.report().plain}" for each in outcomes)
        super().__init__("\n\n".join(told))


def run_case(case: str, streams: str | Path = "", *, engine: str = "interpreter") -> Rows:
    """Run one case and return its output tables; raise `CaseFailed` if they are not as expected.

    A case without any table of output is not compared.

    Parameters
    ----------
    case
        A query, an empty line, then the tables of its input and output, as in an `example` block (docs/testing.md).
    streams
        The statements that declare the streams, or the path of a SQL file with them. A case of such a file may be
        `INSERT INTO name` instead of a query: it then runs the query that the file inserts there.
    engine
        `interpreter`, the reference interpreter, or `spark`.

    Returns
    -------
    dict
        The rows of each table that is not empty: `result` or `changes`, `late`, `rejected`, `refused`, `sync`. Times
        are microseconds since 1970.

    Examples
    --------
    found = sw.testing.run_case(
        "SELECT v FROM S WHERE v > 1\\n\\nS | ts | v\\n0 | 1 | 1\\n0 | 2 | 2\\nflush",
        "CREATE STREAM S (v INT, ts TIMESTAMP) USING rate TIMESTAMP BY ts;",
    )
    assert [row["v"] for row in found["result"]] == [2]
    """
    __tracebackhide__ = True  # pytest then shows the caller's test, not this function
    files = [streams] if isinstance(streams, Path) else []
    declared = DECLARED.format(cleandoc(streams)) if isinstance(streams, str) and streams.strip() else ""
    page = read_page(declared + CASE.format(cleandoc(case)), NAME, variables(()), files)
    outcome = run_block(page, page.blocks[0], answers_of(Engine(engine)))
    if outcome.error is not None or outcome.found is None or outcome.case is None:
        raise outcome.error or CaseFailed([outcome])
    if outcome.case.expected and not outcome.passed:
        raise CaseFailed([outcome])
    return {
        name: [{"batch": batch, **row} for batch, row in lines] for name, lines in outcome.found.tables.items() if lines
    }


def run_cases(page: str | Path, *, engine: str = "interpreter", only: str = "") -> int:
    """Run the cases of a page and return how many there are; raise `CaseFailed` if any fails.

    Parameters
    ----------
    page
        The path of a Markdown file with `example` blocks.
    engine
        `interpreter`, the reference interpreter, or `spark`.
    only
        Run the cases whose titles contain this text.

    Examples
    --------
    assert sw.testing.run_cases("examples/traffic_cases.md") > 0
    """
    __tracebackhide__ = True
    outcomes = list(run_page(load_page(Path(page)), answers_of(Engine(engine)), only))
    if failed := [each for each in outcomes if not each.passed]:
        raise CaseFailed(failed)
    return len(outcomes)
