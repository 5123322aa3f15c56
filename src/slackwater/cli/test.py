"""`slackwater test`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from slackwater.app.testing.engine import Engine
from slackwater.cli.options import Settings

if TYPE_CHECKING:
    from slackwater.app.testing.run import Outcome

STYLES = {"ok": "green", "updated": "yellow", "FAILED": "bold red"}


def test(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Markdown pages with cases; docs/testing.md explains them.")
    ],
    engine: Annotated[
        Engine, typer.Option(help="Who answers: the reference interpreter, in milliseconds, or Spark.")
    ] = Engine.INTERPRETER,
    update: Annotated[
        bool, typer.Option("--update", help="Write the found tables into FILE. Review the changes.")
    ] = False,
    only: Annotated[str, typer.Option(metavar="TEXT", help="Run the cases whose titles contain TEXT.")] = "",
    settings: Settings = None,
) -> None:
    """Run the cases in FILE: queries, their input in batches with a clock, and the expected tables.

    A failing case is shown with its differences. Exits with 0 if every case passes, with 1 if one fails, and with 2
    if a file cannot be read.

        slackwater test cases.md
        slackwater test cases.md --only 'late' --engine spark
        slackwater test cases.md --update
    """
    from slackwater.app.testing.answers import answers_of
    from slackwater.app.testing.page import load_page
    from slackwater.app.testing.run import run_page
    from slackwater.app.testing.update import check_updating, update_page

    if update:
        check_updating(engine)
    console, began, counts = Console(highlight=False), monotonic(), Counter[str]()
    answers = answers_of(engine)
    for page in [load_page(each, settings or ()) for each in files]:
        console.print(str(page.path), style="bold", markup=False, soft_wrap=True)
        outcomes = []
        for outcome in run_page(page, answers, only):
            outcomes.append(outcome)
            counts[_show(outcome, console, update=update)] += 1
        if update:
            update_page(page, outcomes)
    total = ", ".join(f"{count} {'passed' if word == 'ok' else word.lower()}" for word, count in counts.items())
    console.print(f"{total} in {monotonic() - began:.2f} s ({engine})")
    if counts["FAILED"]:
        raise typer.Exit(1)


def _show(outcome: Outcome, console: Console, *, update: bool) -> str:
    """Print one line for a case, and its differences below; return the word for its outcome."""
    word = "ok" if outcome.passed else "updated" if update and outcome.found is not None else "FAILED"
    console.print(f"[{STYLES[word]}]{word:<7}[/]", end=" ")
    place = "" if outcome.passed else f" ({outcome.place})"
    console.print(f"{outcome.block.title}{place}", markup=False, soft_wrap=True)
    for note in outcome.notes:
        console.print(f"        note: {note}", style="dim")
    if not outcome.passed:
        for line in outcome.report().split():
            console.print(Text(" " * 8 if line else "").append(line), soft_wrap=True)
        console.print()
    return word
