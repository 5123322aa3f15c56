"""`pytest tests/rewrite --rewrites-report`: for every rule, the cases that were run and how often it fired."""

from __future__ import annotations

from collections import Counter

import pytest
from _pytest.terminal import TerminalReporter

from slackwater.rewrite import RULES

CASES = pytest.StashKey[Counter[str]]()
FIRED = pytest.StashKey[Counter[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrites-report", action="store_true", help="print rule, cases run, times fired")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[CASES] = Counter()
    config.stash[FIRED] = Counter()


@pytest.fixture
def tally(request: pytest.FixtureRequest):
    """Return a function that counts the proved cases of a rule, and how often the rule fired in them."""
    stash = request.config.stash

    def count(rule: str, fired: int) -> None:
        stash.setdefault(CASES, Counter())[rule] += 1
        stash.setdefault(FIRED, Counter())[rule] += fired

    return count


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    config = terminalreporter.config
    if not config.getoption("rewrites_report", default=False):
        return
    terminalreporter.section("rewrites")
    terminalreporter.line(f"{'rule':<36}{'cases run':>10}{'times fired':>13}")
    for name in (rule.__name__ for rule in RULES):
        terminalreporter.line(f"{name:<36}{config.stash[CASES][name]:>10,}{config.stash[FIRED][name]:>13,}")
