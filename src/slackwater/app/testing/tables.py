"""Read and write the tables of a case, with the place of every cell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len

from slackwater.errors import InputError, Place

ENDS = re.compile(r"(\d+) +ends(?:, *P *= *(\S+))?")
MOST_BATCHES = 10_000
"""The largest batch number. A larger one is a mistake, because all batches before it would run, too."""
NAME_WIDTH = 6
"""The least width of the first column in characters: `result` fits, and the tables of a case align."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The text of a cell, and its place."""

    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class BatchEnd:
    """The end of a batch, and the punctuation after it, if there is one."""

    batch: int
    punctuation: Cell | None


Row = tuple[int, tuple[Cell, ...]]
"""The batch of a row, and its other cells."""


@dataclass(frozen=True, slots=True)
class Table:
    """A header, its rows, and the ends of batches. `first` and `last` are lines of the page."""

    name: Cell
    columns: tuple[Cell, ...]
    lines: tuple[Row, ...]
    ends: Mapping[int, BatchEnd] = field(default_factory=dict)
    flush: bool = False
    first: int = 0
    last: int = 0


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Consecutive lines of a page; `first` is the number of the first line, from 1."""

    first: int
    lines: tuple[str, ...]
    file: str

    def place(self, line: int, start: int = 0, length: int | None = None) -> Place:
        """Return the place of some characters in a line of the paragraph; of the whole line by default."""
        text = self.lines[line]
        shown = text.expandtabs(1)
        return Place(self.first + line, start + 1, shown, max(1, len(text) if length is None else length), self.file)


def read_table(paragraph: Paragraph) -> Table:
    """Return the table that a paragraph holds."""
    name, *columns = _cells(paragraph, 0)
    _check_columns(columns)
    lines: list[Row] = []
    ends: dict[int, BatchEnd] = {}
    flush = False
    for number, line in enumerate(paragraph.lines[1:], start=1):
        if line.strip() == "flush":
            flush = True
        elif found := ENDS.fullmatch(line.strip()):
            end = _end(paragraph, number, found)
            ends[_in_order(end.batch, ends, lines, paragraph.place(number))] = end
        else:
            lines.append(_row(paragraph, number, len(columns), ends, lines))
    last = paragraph.first + len(paragraph.lines) - 1
    return Table(name, tuple(columns), tuple(lines), ends, flush, paragraph.first, last)


def _row(paragraph: Paragraph, number: int, width: int, ends: Mapping[int, BatchEnd], before: list[Row]) -> Row:
    batch, *cells = _cells(paragraph, number)
    if not re.fullmatch(r"\d{1,9}", batch.text):
        raise InputError(
            "SW-471",
            f"'{batch.text}' is not the number of a batch",
            expected="a row, '0 ends', '0 ends, P = 5' or 'flush'",
            hint="begin a row with the number of its batch: 0 | 12 | 3.5",
            place=batch.place,
        )
    if len(cells) != width:
        raise InputError(
            "SW-472",
            f"the row has {len(cells) + 1} cells, its table has {width + 1} columns",
            expected="a cell for each column",
            hint="part cells by |, and write - for NULL; a text with | stands in double quotes",
            place=paragraph.place(number),
        )
    return _in_order(int(batch.text), ends, before, batch.place), tuple(cells)


def _in_order(batch: int, ends: Mapping[int, BatchEnd], before: Sequence[Row], place: Place) -> int:
    """Return the batch if it may follow the rows before it, else raise."""
    latest = max([number for number, _ in before[-1:]] + [number + 1 for number in ends], default=0)
    if not latest <= batch < MOST_BATCHES:
        raise InputError(
            "SW-473",
            f"batch {batch} comes here after batch {latest} began"
            if batch < latest
            else f"{batch} is too large for the number of a batch",
            expected=f"a number from {latest} to {MOST_BATCHES - 1:,}",
            hint="write rows in the order of their arrival; batches count from 0",
            place=place,
        )
    return batch


def _end(paragraph: Paragraph, number: int, found: re.Match[str]) -> BatchEnd:
    if found[2] is None:
        return BatchEnd(int(found[1]), None)
    start = paragraph.lines[number].rindex(found[2])
    return BatchEnd(int(found[1]), Cell(found[2], paragraph.place(number, start, len(found[2]))))


def _check_columns(columns: Iterable[Cell]) -> None:
    seen = set()
    for each in columns:
        if not each.text or each.text.lower() in seen:
            raise InputError(
                "SW-474",
                f"the column '{each.text}' stands twice in the header" if each.text else "a column has no name",
                expected="the name of the table, then each column once",
                hint="write a header such as: Traffic | ts | speed",
                place=each.place,
            )
        seen.add(each.text.lower())


def _cells(paragraph: Paragraph, line: int) -> list[Cell]:
    """Return the cells of a line. A | inside double quotes does not separate cells."""
    text, at, found = paragraph.lines[line], 0, []
    while True:
        start = at + len(text[at:]) - len(text[at:].lstrip())
        end = _quoted_end(paragraph, line, start) if text.startswith('"', start) else start
        bar = text.find("|", end)
        stop = len(text) if bar < 0 else bar
        shown = text[start:stop].strip()
        found.append(Cell(shown, paragraph.place(line, min(start, stop), len(shown))))
        if bar < 0:
            return found
        at = bar + 1


def _quoted_end(paragraph: Paragraph, line: int, start: int) -> int:
    try:
        return json.JSONDecoder().raw_decode(paragraph.lines[line], start)[1]
    except json.JSONDecodeError as cause:
        raise InputError(
            "SW-475",
            "a text in quotes is not closed, or holds what cannot stand in one",
            expected='a text such as "a | b", with \\" for a quote and \\\\ for a backslash',
            hint="close it, or leave out the quotes",
            place=paragraph.place(line, start),
        ) from cause


def write_table(name: str, columns: Sequence[str], rows: Iterable[tuple[int, Sequence[str]]]) -> list[str]:
    """Return the lines of a table, its columns aligned.

    >>> write_table("result", ["time", "v"], [(1, ["5-", "10"])])
    ['result | time | v', '1      | 5-   | 10']
    """
    lines = [[name, *columns], *([str(batch), *cells] for batch, cells in rows)]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    widths[0] = max(NAME_WIDTH, widths[0])
    return [" | ".join(pad(cell, width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def pad(text: str, width: int) -> str:
    """Return the text padded to a width of the terminal, in which some characters take two columns."""
    return text + " " * (width - cell_len(text))
