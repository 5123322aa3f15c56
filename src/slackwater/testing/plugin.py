"""The pytest plugin: collects every case of a page as a test.

`pytest` collects files named `*cases.md` (the setting `slackwater_cases` changes the patterns) that contain an
`example` block. Any other page is collected if it is named on the command line. `--slackwater-engine spark` runs the
cases on Spark.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from slackwater.app.testing.answers import Answers
    from slackwater.app.testing.page import FencedBlock, Page

PATTERNS = ["*cases.md"]
MARK = "```example"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("slackwater")
    group.addoption(
        "--slackwater-engine",
        choices=("interpreter", "spark"),
        default="interpreter",
        help="who answers the cases of pages: the reference interpreter, or Spark",
    )
    parser.addini("slackwater_cases", "file names of pages with cases", type="args", default=PATTERNS)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> PageFile | None:
    if file_path.suffix != ".md":
        return None
    patterns = parent.config.getini("slackwater_cases")
    named = any(fnmatch(file_path.name, pattern) for pattern in patterns)
    if not named and not parent.session.isinitpath(file_path):
        return None
    text = file_path.read_text(encoding="utf-8", errors="replace")
    return PageFile.from_parent(parent, path=file_path) if MARK in text else None


class PageFile(pytest.File):
    """A page of cases."""

    def collect(self) -> Iterator[CaseItem]:
        from slackwater.app.testing.page import load_page  # noqa: PLC0415 (pytest loads this module in every run)

        page = load_page(self.path)
        for block in page.blocks:
            yield CaseItem.from_parent(self, name=block.title, page=page, block=block)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        return _told(excinfo) or super().repr_failure(excinfo)


class CaseItem(pytest.Item):
    """A case of a page."""

    def __init__(self, page: Page, block: FencedBlock, **rest: Any) -> None:
        super().__init__(**rest)
        self.page = page
        self.block = block

    def runtest(self) -> None:
        from slackwater.app.testing.run import run_block  # noqa: PLC0415
        from slackwater.testing.cases import CaseFailed  # noqa: PLC0415

        outcome = run_block(self.page, self.block, _answers(self.config.getoption("--slackwater-engine")))
        if not outcome.passed:
            raise CaseFailed([outcome])

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        return _told(excinfo) or super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.block.body.first - 2, self.name


@cache
def _answers(engine: str) -> Answers:
    """Return the engine, one for the whole run, because it may hold a Spark session."""
    from slackwater.app.testing.answers import answers_of  # noqa: PLC0415
    from slackwater.app.testing.engine import Engine  # noqa: PLC0415

    return answers_of(Engine(engine))


def _told(excinfo: pytest.ExceptionInfo[BaseException]) -> str | None:
    """Return the message of an expected kind of failure. Its traceback does not help the author of a case."""
    from slackwater.errors import SlackwaterError  # noqa: PLC0415
    from slackwater.testing.cases import CaseFailed  # noqa: PLC0415

    return str(excinfo.value) if isinstance(excinfo.value, CaseFailed | SlackwaterError) else None
