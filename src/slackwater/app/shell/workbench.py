"""`slackwater shell`: takes statements one by one, keeps their declarations, runs queries and shows the answers."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.table import Table

from slackwater.algebra.catalog import LATE, Pipeline, Script, SinkDef, StreamDef, ViewDef
from slackwater.algebra.nodes import Disorder, Plan, Scan, walk
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.sides import is_side
from slackwater.app.load import read_text
from slackwater.app.readers import readers_of
from slackwater.app.secrets import hide_secrets
from slackwater.app.shell.backstage import Backstage
from slackwater.app.shell.statements import split_statements, without_comments
from slackwater.errors import InputError, QueryError, SlackwaterError, nearest
from slackwater.lang import parse_script

LATE_KEPT = 1_000
"""Late rows of the last query that are remembered, per stream. Without a limit, a long query would fill the memory."""
LATE_SHOWN = 20
SHOW = re.compile(r"SHOW\b\s*(.*?)\s*;?", re.IGNORECASE | re.DOTALL)
DESCRIBE = re.compile(r"(?:DESCRIBE|DESC)\b\s*`?(.*?)`?\s*;?", re.IGNORECASE | re.DOTALL)
HELP = """\
CREATE STREAM, VIEW, SINK    declare something; SHOW STREAMS, VIEWS, SINKS lists it, DESCRIBE name shows its columns
SELECT ...;                  shows the answers as they come, until Ctrl-C
INSERT INTO sink SELECT ...; runs the query into the sink, until Ctrl-C
EXPLAIN [REWRITES | PHYSICAL] SELECT ...;
\\late                        the late rows of the last query
\\account                     what became of every row of the last query
\\read FILE                   executes the statements of a file
\\drop NAME                   forgets a stream, a view or a sink
\\quit                        ends the shell, as Ctrl-D does
A statement ends with a semicolon."""


class Quit(Exception):  # noqa: N818 (a wish, not an error)
    """The user wants to leave."""


class Workbench:
    """A session of the shell: its declarations and its last query. While it is `declaring`, no query runs.

    An `endless` query runs until Ctrl-C. Any other reads the rows that are there, closes every window and ends.
    """

    def __init__(self, console: Console, backstage: Backstage, checkpoint: Path, *, endless: bool = True) -> None:
        self.console = console
        self.backstage = backstage
        self.checkpoint = checkpoint
        self.endless = endless
        self.declaring = False
        self.declared = Script()
        self.late: dict[str, deque[Any]] = {}
        self.summary: Callable[[], None] | None = None

    def execute(self, text: str) -> None:
        """Execute the statements and the commands in a text; the first mistake is raised."""
        if text.strip().lower() in ("exit", "quit", "help"):
            self._command(text.strip())
            return
        for each in _parts(text):
            if each.startswith("\\"):
                self._command(each.removeprefix("\\"))
            else:
                self._statement(each)

    def _command(self, text: str) -> None:
        name, _, argument = text.partition(" ")
        commands: Mapping[str, Callable[[str], None]] = {
            "account": self._account,
            "drop": self._drop,
            "help": lambda _: self.console.print(HELP, markup=False, soft_wrap=True),
            "late": self._late,
            "quit": _quit,
            "exit": _quit,
            "read": self._read,
        }
        if name.lower() not in commands:
            raise InputError(
                "SW-490",
                f"there is no command \\{name}",
                expected=", ".join(f"\\{each}" for each in commands if each != "exit"),
                hint=nearest(f"\\{name}", [f"\\{each}" for each in commands]),
            )
        commands[name.lower()](argument.strip().rstrip(";"))

    def _read(self, file: str) -> None:
        """Execute the statements of a file, which can hold no commands: a file must not read itself."""
        for each in _parts(read_text(Path(file).expanduser())):
            self._statement(each)

    def _statement(self, text: str) -> None:
        bare = without_comments(text)
        if found := SHOW.fullmatch(bare):
            self._show(found[1])
        elif found := DESCRIBE.fullmatch(bare):
            self._describe(found[1])
        else:
            self._parsed(self._parse(text))

    def _parse(self, text: str) -> Script:
        try:
            return parse_script(text, "shell", os.environ, self.declared.catalog)
        except QueryError as error:
            if error.code == "SW-130":  # the shell has two statements more than a script
                known = [*error.problem.expected.split(", "), "SHOW", "DESCRIBE"]
                hint = nearest(without_comments(text).split()[0], known)
                error.problem = replace(error.problem, expected=", ".join(known), hint=hint)
            raise

    def _parsed(self, script: Script) -> None:
        """Add the declarations of a statement, answer its EXPLAIN, and run its query."""
        self.declared = replace(
            self.declared,
            streams=self.declared.streams + script.streams,
            views=self.declared.views + script.views,
            sinks=self.declared.sinks + script.sinks,
            settings={**self.declared.settings, **script.settings},
        )
        for each in _definitions(script):
            self.console.print(f"{_kind(each)} {each.name}", style="dim", markup=False)
        if self.declaring:
            return
        if script.explains:
            self._explain(replace(self.declared, explains=script.explains))
        for pipeline in script.pipelines:
            self._run(pipeline)

    def _explain(self, script: Script) -> None:
        self.backstage.wait(self.console)
        from slackwater.app.plans.explain import render_plans  # noqa: PLC0415 (it imports Spark)

        self.console.print(render_plans(script), soft_wrap=True)

    def _run(self, pipeline: Pipeline) -> None:
        """Run a query until it ends or Ctrl-C, and remember its late rows.

        A query into a sink uses the checkpoint of the shell; any other uses a temporary one.
        """
        readers = readers_of(pipeline, self.declared.catalog, (LATE,)) if _has_late(pipeline.plan) else []
        script = replace(self.declared, pipelines=(pipeline, *readers))
        self.late = {each.name: deque(maxlen=LATE_KEPT) for each in readers}
        self.backstage.wait(self.console)
        from slackwater.app.run import Conditions, run  # noqa: PLC0415
        from slackwater.app.shell.shell_watch import ShellWatch  # noqa: PLC0415 (it imports Spark)

        following = ShellWatch(self.console, self.late, endless=self.endless)
        self.summary = following.summary
        with TemporaryDirectory(prefix="slackwater-shell-", ignore_cleanup_errors=True) as folder:
            place = Path(folder) if pipeline.sink is None else self.checkpoint
            run(script, Conditions(place / "checkpoint", available_now=not self.endless), following)

    def _late(self, _: str) -> None:
        rows = [row for each in self.late.values() for row in each]
        if not rows:
            self.console.print("no late rows" if self.late else "no query has run that could have late rows")
        for name, each in self.late.items():
            self._print_late(name, list(each))

    def _print_late(self, name: str, rows: Sequence[Any]) -> None:
        if not rows:
            return
        from slackwater.app.live.watch import cell_text  # noqa: PLC0415 (it imports Spark)

        table = Table(*rows[0].__fields__, box=None)
        for row in rows[-LATE_SHOWN:]:
            table.add_row(*map(cell_text, row))
        self.console.print(f"{name}: the last {len(rows[-LATE_SHOWN:])} of {len(rows):,} late rows", style="italic")
        self.console.print(table)

    def _account(self, _: str) -> None:
        if self.summary is None:
            self.console.print("no query has run yet")
        else:
            self.summary()

    def _drop(self, name: str) -> None:
        kept = [
            tuple(each for each in part if each.name.lower() != name.lower())
            for part in (self.declared.streams, self.declared.views, self.declared.sinks)
        ]
        if sum(map(len, kept)) == sum(1 for _ in _definitions(self.declared)):
            raise self._unknown(name)
        readers = [each.name for each in self.declared.views if _reads(each.query, name)]
        if readers:
            raise InputError(
                "SW-407", f"the view '{readers[0]}' reads '{name}'", hint=f"drop the view first: \\drop {readers[0]}"
            )
        self.declared = replace(self.declared, streams=kept[0], views=kept[1], sinks=kept[2])  # type: ignore[arg-type]

    def _show(self, what: str) -> None:
        kinds = {"streams": StreamDef, "views": ViewDef, "sinks": SinkDef}
        if what.lower() not in kinds:
            raise QueryError(
                "SW-409",
                f"SHOW '{what}' means nothing",
                expected="SHOW STREAMS, VIEWS or SINKS",
                hint=nearest(what, kinds),
            )
        found = [each for each in _definitions(self.declared) if isinstance(each, kinds[what.lower()])]
        if not found:
            self.console.print(f"no {what.lower()} yet")
            return
        table = Table(
            "name", "" if what.lower() == "views" else "format", "" if what.lower() == "sinks" else "columns", box=None
        )
        for each in found:
            columns = ", ".join(f"{name} {kind}" for name, kind in _columns(each))
            table.add_row(each.name, "" if isinstance(each, ViewDef) else each.format, columns)
        self.console.print(table)

    def _describe(self, name: str) -> None:
        each = next((each for each in _definitions(self.declared) if each.name.lower() == name.lower()), None)
        if each is None:
            raise self._unknown(name)
        self.console.print(f"{_kind(each)} {each.name}", style="italic", markup=False)
        table = Table(box=None, show_header=False)
        for column, kind in _columns(each):
            table.add_row(column, kind, _role(each, column))
        self.console.print(table)
        for key, value in hide_secrets({} if isinstance(each, ViewDef) else each.options).items():
            self.console.print(f"  {key} '{value}'", style="dim", markup=False)

    def _unknown(self, name: str) -> SlackwaterError:
        known = [each.name for each in _definitions(self.declared)]
        return QueryError(
            "SW-464",
            f"there is no stream, view or sink '{name}'",
            hint=nearest(name, known) if known else "declare one",
        )


def _parts(text: str) -> list[str]:
    statements, rest = split_statements(text)
    return [*statements, rest] if without_comments(rest) else statements


def _quit(_: str) -> None:
    raise Quit


def _definitions(script: Script) -> Iterator[StreamDef | ViewDef | SinkDef]:
    yield from script.streams
    yield from script.views
    yield from script.sinks


def _kind(definition: StreamDef | ViewDef | SinkDef) -> str:
    return {StreamDef: "stream", ViewDef: "view", SinkDef: "sink"}[type(definition)]


def _columns(definition: StreamDef | ViewDef | SinkDef) -> list[tuple[str, str]]:
    match definition:
        case StreamDef(fields=fields):
            return [(field.name, field.type) for field in fields]
        case ViewDef(query=query):
            return [(field.name, field.type) for field in schema_of(query)]
    return []


def _role(definition: StreamDef | ViewDef | SinkDef, column: str) -> str:
    if not isinstance(definition, StreamDef):
        return ""
    roles = {"event time": definition.event_time, "arrival": definition.arrival, "sender": definition.source}
    roles |= {"change type": definition.change_type}
    found = [role for role, name in roles.items() if name == column]
    return ", ".join([*found, *["key"] * (column in definition.key)])


def _reads(plan: Plan, name: str) -> bool:
    return any(isinstance(node, Scan) and node.stream.lower() == name.lower() for node in walk(plan))


def _has_late(plan: Plan) -> bool:
    """Return whether a query has readable late rows: it reads each stream under one policy, and no side of another."""
    controls = [node for node in walk(plan) if isinstance(node, Disorder)]
    scans = [
        (scan.stream, scan.event_time, each.policy)
        for each in controls
        for scan in walk(each)
        if isinstance(scan, Scan)
    ]
    return len({stream for stream, _, _ in scans}) == len(set(scans)) and not any(is_side(each) for each, _, _ in scans)
