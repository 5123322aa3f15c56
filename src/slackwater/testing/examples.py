"""The worked examples of docs/semantics.md as data: a query, its feeds, and all of its output.

    for example in read_examples(text): example.check(interpret(example.plan, example.feeds, example.flush))

What executes plans in another way can be held against the same examples.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from slackwater.algebra.catalog import Catalog
from slackwater.algebra.columns import schema_of
from slackwater.algebra.nodes import Plan
from slackwater.algebra.schema import Schema
from slackwater.lang import bind_query, parse_script
from slackwater.semantics import Answer, Batch, Feed

SECOND = 1_000_000
EXAMPLE = re.compile(r"^### (?P<title>[^\n]+)\n(?P<text>.*?)^```example\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
DECLARATIONS = re.compile(r"^```sql\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ENDS = re.compile(r"(\d+) ends(?:, P = (\S+))?")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of an example: its name, its columns, and the cells of each line, the batch first."""

    name: str
    columns: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    ends: Mapping[int, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Example:
    """One example; `expected` has the tables of its output by name."""

    title: str
    query: str
    plan: Plan
    feeds: Mapping[str, Feed]
    flush: bool
    expected: Mapping[str, list[dict[str, Any]]]

    def got(self, answer: Answer) -> dict[str, list[dict[str, Any]]]:
        """The output of a run in the form of the expected tables."""
        late = [
            (row.alias, {"batch": row.batch, **row.row, "late_by": row.late_by, "missed": row.missed})
            for row in answer.late
        ]
        tables: dict[str, list[dict[str, Any]]] = {
            "result": [{"batch": row.batch, "time": row.time, **row.row} for row in answer.rows],
            "sync": [{"batch": row.batch, "window_end": row.window_end} for row in answer.syncs],
            "rejected": [{"batch": row.batch, **row.row} for row in answer.rejected],
            "refused": [{"batch": row.batch, **row.row} for row in answer.refused],
            "changes": [
                {"batch": row.batch, "type": row.type, "from": row.valid_from, "to": row.valid_to, **row.row}
                for row in answer.changes
            ],
        }
        for alias, line in late:
            tables.setdefault(f"late {alias}" if f"late {alias}" in self.expected else "late", []).append(line)
        return {name: [self.shown(name, line) for line in lines] for name, lines in tables.items() if lines}

    def shown(self, name: str, line: dict[str, Any]) -> dict[str, Any]:
        """The columns of a line that the example shows; those that it leaves out are NULL."""
        shown = self.expected.get(name, [])
        columns = shown[0].keys() if shown else line.keys()
        return {column: line.get(column) for column in columns}


def read_examples(text: str) -> list[Example]:
    """The examples of a page, over the streams that its SQL blocks declare."""
    catalog = parse_script("\n".join(DECLARATIONS.findall(text))).catalog
    return [read_example(found["title"], found["body"], catalog) for found in EXAMPLE.finditer(text)]


def read_example(title: str, body: str, catalog: Catalog) -> Example:
    query, _, rest = body.partition("\n\n")
    plan = bind_query(query, catalog)
    streams = {stream.name: Schema(stream.fields) for stream in catalog.streams}
    tables = [read_table(part) for part in re.split(r"\n\s*\n", rest.strip())]
    inputs = [table for table in tables if table.name in streams]
    outputs = [table for table in tables if table.name not in streams]
    read = Schema(tuple({each.name: each for table in inputs for each in streams[table.name]}.values()))
    return Example(
        title,
        query,
        plan,
        {table.name: read_feed(table, streams[table.name]) for table in inputs},
        "\nflush" in body,
        {table.name: read_output(table, schema_of(plan), read) for table in outputs},
    )


def read_table(part: str) -> Table:
    """A header, lines, and what is said about batches."""
    header, *others = part.splitlines()
    lines = [tuple(cell.strip() for cell in line.split("|")) for line in others if "|" in line]
    ends = {int(found[1]): found[2] for line in others if (found := ENDS.fullmatch(line.strip()))}
    name, *columns = (cell.strip() for cell in header.split("|"))
    return Table(name, tuple(columns), tuple(lines), ends)


def read_feed(table: Table, schema: Schema) -> Feed:
    """The batches that an input table describes."""
    last = max([int(line[0]) for line in table.lines] + list(table.ends))
    batches = []
    for number in range(last + 1):
        lines = [line[1:] for line in table.lines if int(line[0]) == number]
        rows = [dict(zip(table.columns, line, strict=True)) for line in lines]
        cells = [{name: value(cell, schema.find(name).type) for name, cell in row.items()} for row in rows]
        mark = table.ends.get(number)
        batches.append(Batch(tuple(cells), None if mark is None else seconds(mark)))
    return Feed(tuple(batches))


def read_output(table: Table, result: Schema, streams: Schema) -> list[dict[str, Any]]:
    """The lines of an output table; columns that the answer adds are times or counts."""
    added = {"time": "timestamp", "from": "timestamp", "to": "timestamp", "window_end": "timestamp"}
    added |= {"late_by": "timestamp", "missed": "bigint", "type": "string"}
    schema = result if table.name in ("result", "changes") else streams

    def kind(name: str) -> str:
        return added[name] if name in added and name not in schema else schema.find(name).type

    return [
        {"batch": int(line[0])}
        | {name: value(cell, kind(name)) for name, cell in zip(table.columns, line[1:], strict=True)}
        for line in table.lines
    ]


def value(cell: str, kind: str) -> Any:
    """A cell as a value of a type."""
    if cell == "-":
        return None
    if kind.startswith("timestamp"):
        return seconds(cell)
    if kind == "string":
        return cell
    return float(cell) if kind == "double" else Decimal(cell) if kind.startswith("decimal") else int(cell)


def seconds(cell: str) -> int:
    """A time in ticks; `5-` is one tick before 5 seconds."""
    return int(cell.removesuffix("-") or 0) * SECOND - cell.endswith("-")
