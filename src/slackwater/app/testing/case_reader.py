"""Turn a block of a page into a case. Unreadable text is an error with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from slackwater.algebra.catalog import Pipeline
from slackwater.algebra.nodes import Plan, Scan, walk
from slackwater.algebra.schema import Schema
from slackwater.algebra.sides import is_side
from slackwater.app.testing.case import Expected, Kinds, QueryCase, outputs_of
from slackwater.app.testing.cells import BITS, DURATION, NULL, Notation, notation_of, read_cell
from slackwater.app.testing.page import FencedBlock, Page
from slackwater.app.testing.tables import Cell, Paragraph, Table, read_table
from slackwater.errors import InputError, Place, QueryError, nearest
from slackwater.lang import parse_script
from slackwater.semantics import Feed, FeedBatch

OUTPUTS = ("result", "changes", "late", "rejected", "refused", "sync")
INSERTED = re.compile(r"INSERT\s+INTO\s+`?([^\s`;]+)`?\s*;?", re.IGNORECASE)


def read_case(page: Page, block: FencedBlock) -> QueryCase:
    """Return the case in a block, over the declarations of its page."""
    query, *rest = _paragraphs(block.body)
    pipeline = _pipeline(page, query)
    scans = _scans(pipeline.plan, query)
    outputs = outputs_of(pipeline.plan, scans)
    tables = [read_table(each) for each in rest]
    streams = {scan.stream.lower(): scan for scan in scans}
    given, wanted = dict[str, Table](), dict[str, Table]()
    for table in tables:
        name = _named(table.name, streams, outputs, page)
        part = given if name in streams else wanted
        if name in part:
            raise _twice(table.name)
        part[name] = table
    if not given:
        raise InputError(
            "SW-477",
            "the case has no input",
            expected=f"a table of {' or '.join(scan.stream for scan in streams.values())}",
            hint="write an empty line after the query, then the table of each stream",
            place=query.place(len(query.lines) - 1),
        )
    feeds = {streams[name].stream: _feed(table, streams[name]) for name, table in given.items()}
    notes = [_notation(table, streams[name]) for name, table in given.items()]
    return QueryCase(
        block,
        "\n".join(query.lines),
        pipeline,
        page.declared,
        feeds,
        any(table.flush for table in tables),
        outputs,
        {name: _expected(table, outputs[name]) for name, table in wanted.items()},
        next((each for each in notes if each is not None), Notation.SECONDS),
        tuple(given.values()),
    )


def read_cases(page: Page) -> list[QueryCase]:
    """Return every case of a page. Raise at the first mistake."""
    return [read_case(page, block) for block in page.blocks]


def _paragraphs(body: Paragraph) -> list[Paragraph]:
    """Return the parts of a block between empty lines: the query, then tables."""
    found: list[tuple[int, list[str]]] = []
    open_ = False
    for number, line in enumerate(body.lines):
        if not line.strip():
            open_ = False
        elif open_:
            found[-1][1].append(line)
        else:
            found.append((body.first + number, [line]))
            open_ = True
    if not found:
        raise InputError(
            "SW-477",
            "the case is empty",
            expected="a query, an empty line, then tables",
            hint="docs/testing.md shows a case",
            place=Place(body.first - 1, 1, "```example", 10, body.file),
        )
    return [Paragraph(first, tuple(lines), body.file) for first, lines in found]


def _pipeline(page: Page, query: Paragraph) -> Pipeline:
    """Return the query of a case: its own text, or the query that the page's files insert into a sink."""
    text = "\n".join(query.lines)
    if found := INSERTED.fullmatch(text.strip()):
        return _inserted(page, query, found[1])
    padded = "\n" * (query.first - 1) + text
    script = parse_script(padded, query.file, {}, page.catalog)
    statements = [*script.streams, *script.views, *script.sinks, *script.explains, *script.settings]
    if len(script.pipelines) != 1 or statements:
        raise QueryError(
            "SW-478",
            "a case has one query, and no other statement",
            expected="SELECT ..., or INSERT INTO and the sink of a query that the page declares",
            hint="write declarations in a block that begins with ```sql",
            place=query.place(0),
        )
    return script.pipelines[0]


def _inserted(page: Page, query: Paragraph, name: str) -> Pipeline:
    known = {each.name.lower(): each for each in page.declared.pipelines}
    if name.lower() in known:
        return known[name.lower()]
    start = query.lines[0].find(name)
    raise InputError(
        "SW-479",
        f"no query is inserted into '{name}'",
        expected="the sink of an INSERT INTO in a file that the page names, or in its sql blocks",
        hint=nearest(name, [each.name for each in page.declared.pipelines])
        if known
        else "name the file of the query: Queries: [traffic.sql](traffic.sql)",
        place=query.place(0, max(0, start), len(name)),
    )


def _scans(plan: Plan, query: Paragraph) -> list[Scan]:
    """Return the streams that a plan reads."""
    scans = [node for node in walk(plan) if isinstance(node, Scan)]
    for each in scans:
        if is_side(each.stream):
            raise QueryError(
                "SW-480",
                f"'{each.stream}' is filled by another query",
                expected="a query over declared streams",
                hint="test that query: its tables late, rejected and refused list these rows",
                place=query.place(0),
            )
    return scans


def _named(name: Cell, streams: Mapping[str, Scan], outputs: Mapping[str, Kinds], page: Page) -> str:
    """Return the meaning of a table's name: a stream that the query reads, or one of the query's outputs."""
    text = " ".join(name.text.split())
    if text.lower() in streams:
        return text.lower()
    known = {each.lower(): each for each in outputs}
    if text.lower() in known:
        return known[text.lower()]
    declared = text.lower() in {each.name.lower() for each in page.declared.streams}
    names = [*(scan.stream for scan in streams.values()), *outputs]
    raise InputError(
        "SW-466",
        f"the query does not read '{text}'" if declared else f"there is no table '{text}' in this case",
        expected=", ".join(names),
        hint="remove the table, or read the stream in the query" if declared else _hint(text, names),
        place=name.place,
    )


def _hint(text: str, names: Sequence[str]) -> str:
    kind = text.partition(" ")[0].lower()
    mine = [each for each in names if each.partition(" ")[0] == kind]
    if kind in OUTPUTS and mine:
        return f"the query reads several streams: write {' or '.join(mine)}"
    if kind == "result":
        return "the query says EMIT CHANGES: its answer is the table changes"
    if kind == "changes":
        return "a query without EMIT CHANGES has the table result"
    return nearest(text, names)


def _twice(name: Cell) -> InputError:
    return InputError(
        "SW-466",
        f"the table '{name.text}' is given twice",
        expected="each table once",
        hint="write its rows in one table",
        place=name.place,
    )


def _feed(table: Table, scan: Scan) -> Feed:
    """Return the batches that an input table describes."""
    schema = Schema(scan.fields)
    names = [_column(each, {field.name: field.type for field in schema}) for each in table.columns]
    if scan.event_time not in names:
        raise InputError(
            "SW-467",
            f"the table of '{scan.stream}' has no column '{scan.event_time}', the event time",
            expected=f"a header such as: {scan.stream} | {scan.event_time} | ...",
            hint="write the column; - is NULL, and a row without an event time is rejected",
            place=table.name.place,
        )
    kinds = [schema.find(name).type for name in names]
    last = max([batch for batch, _ in table.lines] + list(table.ends), default=-1)
    rows: list[list[dict[str, Any]]] = [[] for _ in range(last + 1)]
    for batch, cells in table.lines:
        rows[batch].append(dict(zip(names, map(_value, cells, kinds), strict=True)))
    ends = (table.ends.get(number) for number in range(last + 1))
    marks = (None if end is None or end.punctuation is None else _punctuation(end.punctuation) for end in ends)
    return Feed(tuple(FeedBatch(tuple(batch), mark) for batch, mark in zip(rows, marks, strict=True)))


def _expected(table: Table, kinds: Kinds) -> Expected:
    names = tuple(_column(each, kinds) for each in table.columns)
    if table.ends:
        raise InputError(
            "SW-469",
            "a table of the output has rows alone",
            expected="rows",
            hint="say in the table of a stream when a batch ends",
            place=table.name.place,
        )
    lines = [
        (batch, {name: _value(cell, kinds[name]) for name, cell in zip(names, cells, strict=True)})
        for batch, cells in table.lines
    ]
    return Expected(names, tuple(lines), table)


def _column(cell: Cell, kinds: Kinds) -> str:
    known = {name.lower(): name for name in kinds}
    if cell.text.lower() in known:
        return known[cell.text.lower()]
    raise InputError(
        "SW-468",
        f"the table has no column '{cell.text}'",
        expected=", ".join(kinds),
        hint=nearest(cell.text, kinds),
        place=cell.place,
    )


def _punctuation(cell: Cell) -> int:
    value = None if cell.text == NULL else _value(cell, "timestamp")
    if value is None:
        raise _unreadable(cell, "timestamp", "write '0 ends' alone where the batch gives no punctuation")
    return int(value)


EXAMPLES = {
    "timestamp": "seconds such as 12 or 12.5, a time such as 09:00:05, or 2024-05-01 09:00:05; 5- is just before 5",
    "double": "a number such as 2.5; 36.66... stands for a number that begins so",
    **dict.fromkeys(BITS, "a whole number that fits the type"),
    "decimal": "a number with no more decimals than the type has",
    "boolean": "true or false",
    "date": "a date such as 2024-05-01",
    "array": "a JSON list such as [1, 2]",
    DURATION: "seconds such as 12 or 0.5",
}


def _value(cell: Cell, kind: str) -> Any:
    try:
        return read_cell(cell.text, kind)
    except (ValueError, OverflowError) as cause:
        raise _unreadable(cell, kind) from cause


def _unreadable(cell: Cell, kind: str, hint: str = "write such a value, or - for NULL") -> InputError:
    plain = kind.partition("(")[0].partition("<")[0].partition("_")[0]
    return InputError(
        "SW-484",
        f"'{cell.text}' is not a value of type {kind}" if cell.text else "the cell is empty",
        expected=EXAMPLES.get(plain, f"a value of type {kind}"),
        hint=hint,
        place=cell.place,
    )


def _notation(table: Table, scan: Scan) -> Notation | None:
    """Return how an input table writes its times, or None if it has none."""
    return next(_notations(table, scan.event_time), None)


def _notations(table: Table, event_time: str) -> Iterator[Notation]:
    place = [each.text.lower() for each in table.columns].index(event_time.lower())
    for _, cells in table.lines:
        if cells[place].text != NULL:
            yield notation_of(cells[place].text)
    yield from (notation_of(end.punctuation.text) for end in table.ends.values() if end.punctuation is not None)
