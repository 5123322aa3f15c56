"""Run the cases of a page: each passes, or has differences, or cannot be run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.text import Text

from slackwater.app.secrets import mask_errors
from slackwater.app.testing.answers import Answers, EngineAnswers, answer_by_interpreter
from slackwater.app.testing.case import QueryCase
from slackwater.app.testing.case_reader import read_case
from slackwater.app.testing.differences import Difference, differences
from slackwater.app.testing.page import FencedBlock, Page
from slackwater.app.testing.report import report, report_error
from slackwater.errors import InputError, SlackwaterError, nearest


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a case; `case` is None if it could not be read, `found` is None if it could not be run."""

    block: FencedBlock
    case: QueryCase | None = None
    found: EngineAnswers | None = None
    differences: tuple[Difference, ...] = ()
    error: SlackwaterError | None = None

    @property
    def passed(self) -> bool:
        return self.error is None and not self.differences

    @property
    def place(self) -> str:
        return f"{self.block.body.file}:{self.block.body.first - 1}"

    @property
    def notes(self) -> list[str]:
        """Return a note for each expected table that was not compared."""
        if self.found is None or self.case is None:
            return []
        return [f"the table {name} was not compared" for name in sorted(self.found.unknown & set(self.case.expected))]

    def report(self) -> Text:
        """Return the error or the differences as text."""
        if self.error is not None:
            return report_error(self.error)
        return report(self.case, self.differences) if self.case is not None else Text()


def run_block(page: Page, block: FencedBlock, answers: Answers = answer_by_interpreter) -> Outcome:
    """Return the outcome of one case. A mistake in the case is part of the outcome."""
    case = None
    try:
        with mask_errors(page.declared):
            case = read_case(page, block)
            found = answers(case)
    except SlackwaterError as error:
        return Outcome(block, case, error=error)
    return Outcome(block, case, found, tuple(differences(case, found)))


def run_page(page: Page, answers: Answers = answer_by_interpreter, only: str = "") -> Iterator[Outcome]:
    """Yield the outcome of every case, or of the cases whose titles contain a text."""
    blocks = [block for block in page.blocks if only.lower() in block.title.lower()]
    if not blocks:
        titles = [block.title for block in page.blocks]
        raise InputError(
            "SW-488",
            f"no title in {page.path.name} contains '{only}'",
            expected="a part of a title",
            hint=nearest(only, titles),
        )
    for block in blocks:
        yield run_block(page, block, answers)
