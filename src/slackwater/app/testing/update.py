"""Replace the expected tables of a page by the tables that were found."""

from __future__ import annotations

import shutil
from codecs import BOM_UTF8
from collections.abc import Iterable
from pathlib import Path
from tempfile import NamedTemporaryFile

from slackwater.app.load import read_text
from slackwater.app.testing.answers import EngineAnswers
from slackwater.app.testing.case import QueryCase
from slackwater.app.testing.cells import write_cell
from slackwater.app.testing.engine import Engine
from slackwater.app.testing.page import Page
from slackwater.app.testing.run import Outcome
from slackwater.app.testing.tables import write_table
from slackwater.errors import InputError

Edit = tuple[int, int, list[str]]
"""Lines of the page (from 0, the second exclusive), and their replacement."""


def fill_in_tables(page: Page, outcomes: Iterable[Outcome]) -> str:
    """Return the text of a page in which every case that ran expects the found tables."""
    edits: list[Edit] = []
    for each in outcomes:
        if each.case is not None and each.found is not None and not each.passed:
            edits += _edits(each.case, each.found, {difference.table for difference in each.differences})
    lines = page.text.split("\n")
    for start, end, new in sorted(edits, reverse=True):
        lines[start:end] = new
    return "\n".join(lines)


def _edits(case: QueryCase, found: EngineAnswers, wrong: set[str]) -> Iterable[Edit]:
    """Return the edits for the tables that differ: rewrite an existing table, or add one after an empty line."""
    for name in wrong & set(case.expected):
        table = case.expected[name].table
        yield table.first - 1, table.last, write_output(case, found, name)
    missing = [name for name in case.outputs if name in wrong - set(case.expected)]
    new = [line for name in missing for line in ["", *write_output(case, found, name)]]
    if new:
        end = max(table.last for table in (*case.inputs, *(each.table for each in case.expected.values())))
        yield end, end, new


def write_output(case: QueryCase, found: EngineAnswers, name: str) -> list[str]:
    """Return the lines of an output table, with the columns that the case shows."""
    kinds = case.outputs[name]
    columns = case.expected[name].columns if name in case.expected else tuple(kinds)
    rows = (
        (batch, [write_cell(row.get(each), kinds[each], case.notation) for each in columns])
        for batch, row in found.tables.get(name, ())
    )
    return write_table(name, columns, rows)


def write_page(page: Page, text: str) -> None:
    """Replace the file of a page atomically: readers see the old text or the new one."""
    path = page.path.resolve()
    if read_text(path) != page.text:
        raise InputError("SW-486", f"{page.path} has changed since its cases were read", hint="run the command again")
    before = path.read_bytes()
    encoding = "utf-8-sig" if before.startswith(BOM_UTF8) else "utf-8"
    newline = "\r\n" if b"\r\n" in before else "\n"
    try:
        with NamedTemporaryFile("w", dir=path.parent, encoding=encoding, newline=newline, delete=False) as draft:
            draft.write(text)
        try:
            shutil.copymode(path, draft.name)
            Path(draft.name).replace(path)
        finally:
            Path(draft.name).unlink(missing_ok=True)
    except OSError as cause:
        reason = (cause.strerror or str(cause)).lower()
        raise InputError("SW-485", f"{page.path} cannot be written: {reason}", hint="check the folder") from cause


def update_page(page: Page, outcomes: Iterable[Outcome]) -> None:
    """Write the found tables into the file of a page."""
    text = fill_in_tables(page, outcomes)
    if text != page.text:
        write_page(page, text)


def check_updating(engine: Engine) -> None:
    """Raise if the engine is Spark, which reports neither the event times of rows nor their order."""
    if engine is not Engine.INTERPRETER:
        raise InputError(
            "SW-489",
            f"tables that {engine} found are not written to a page",
            expected="--update with the interpreter, which says what a query means",
            hint="leave out --update, or --engine",
        )
