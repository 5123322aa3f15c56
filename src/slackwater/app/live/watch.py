"""Show a run in the terminal: result rows as they come, a line per pipeline, a summary at the end."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from heapq import nsmallest
from itertools import filterfalse
from types import TracebackType
from typing import Any

import numpy as np
from rich.console import Console, RenderableType
from rich.live import Live
from rich.table import Table

from slackwater.algebra.catalog import Pipeline
from slackwater.algebra.policies import ratio_text
from slackwater.app.live.feeds import about, answers, events_of
from slackwater.app.live.rejections import RejectionTotals
from slackwater.app.live.terminal import view
from slackwater.app.monitor.board import Board, Event, Feed
from slackwater.errors import SlackwaterError
from slackwater.spark.run.progress import ControlProgress, Progress
from slackwater.spark.run.record import record_of
from slackwater.spark.watermark.punctuate import Account

ROWS_SHOWN = 8
"""Rows of each batch that are shown; with more, rows scroll by faster than a person can read."""


class Watch:
    """Shows a run on a console; `quiet` shows the summary alone, `machine` writes one line of JSON for each batch.

    The events of the run also go to the `feeds`, such as a log or a dashboard. A feed is a function that takes an
    event and returns at once. With `sampled`, the record of each batch has one row of its result, whatever its sink.
    """

    def __init__(
        self,
        console: Console,
        *,
        quiet: bool = False,
        machine: bool = False,
        feeds: Sequence[Feed] = (),
        sampled: bool = False,
    ) -> None:
        self.console = console
        self.machine = machine
        self.quiet = quiet or machine
        self.board = Board()
        self.feeds = feeds
        self.sampled = sampled
        self.latest: dict[str, Progress] = {}
        self.totals: dict[str, list[int]] = {}
        self.first: dict[str, int] = {}
        self.rejected = RejectionTotals()
        self.live = Live(console=console, refresh_per_second=4, get_renderable=self._view, transient=True)

    def starting(self) -> None:
        if not self.quiet:
            self.console.print("starting Spark ...", style="dim")

    def shares(self, views: Sequence[str], notes: Mapping[str, Sequence[str]]) -> None:
        """Print which views are kept, and which pipelines read them."""
        told = [*views, *(f"{name} {each}" for name, mine in notes.items() for each in mine)] if views else []
        for each in told if not self.quiet else ():
            self.console.print(each, style="dim", soft_wrap=True)

    def resumes(self, pipeline: str, closed: Mapping[str, int]) -> None:
        """Warn, also with --quiet, that rows are late because the run before was flushed at its end."""
        for stream, end in closed.items():
            moment = np.datetime_as_string(np.datetime64(end, "ms"), timezone="UTC").replace("T", " ")
            self.warn(
                f"the run of {pipeline} before this one was flushed at its end: rows of {stream} before {moment} "
                "are late from now on; for runs on a schedule use --available-now --no-flush"
            )

    def say(self, text: str) -> None:
        """Print a note, unless it is empty or the run is quiet."""
        if text and not self.quiet:
            self.console.print(text, style="dim", markup=False, soft_wrap=True)

    def warn(self, text: str) -> None:
        """Print a warning, also in a quiet run; to stderr if the output is for programs."""
        console = Console(stderr=True) if self.machine else self.console
        console.print(f"warning: {text}", style="yellow", markup=False, soft_wrap=True)

    def tell(self, event: Event) -> None:
        """Send an event to the board and to all feeds."""
        for feed in (self.board.enter, *self.feeds):
            feed(event)

    def begins(self, pipeline: Pipeline, trigger: float = 0.0) -> None:
        """Send the event that a pipeline was started, with a batch every `trigger` seconds."""
        self.tell(about(pipeline, trigger))

    def ends(self, error: SlackwaterError | None = None) -> None:
        """Send the event that each pipeline has stopped, or failed if the error names it."""
        for name in list(self.board.pipelines):
            failed = error is not None and f"'{name}'" in str(error)
            state = {"state": "failed", "error": str(error)} if failed else {"state": "stopped"}
            self.tell({"kind": "state", "pipeline": name, **state})

    def stopping(self) -> None:
        self.console.print("stopping ...", style="dim")

    def __enter__(self) -> Watch:
        if self.console.is_terminal and not self.quiet:
            self.live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.live.stop()

    def on_rows(self, pipeline: str) -> Callable[[int, Sequence[Any]], None]:
        """Return a function that shows the rows of a pipeline that has no sink."""

        def show(batch: int, rows: Sequence[Any]) -> None:
            first = _first(rows)
            self.tell(answers(pipeline, first))
            if self.quiet or self.live.is_started:
                return
            self.console.print(f"{pipeline}, batch {batch}", style="italic")  # a title would wrap above a narrow table
            table = Table(*rows[0].__fields__, box=None)
            for row in first:
                table.add_row(*map(cell_text, row))
            self.console.print(table)
            if more := len(rows) - len(first):
                self.console.print(f"... {more:,} more {'row' if more == 1 else 'rows'}", style="dim")

        return show

    def news(self, records: Sequence[Progress]) -> None:
        """Show batches that ended, add them to the totals, and send their events."""
        for record in records:
            for text in self.rejected.enter(record):
                self.warn(text)
            self.latest[record.pipeline] = record
            self.first.setdefault(record.pipeline, record.batch)
            total = self.totals.setdefault(record.pipeline, [0, 0])
            total[0] += record.rows_in
            total[1] += record.rows_out
            for event in events_of(record):
                self.tell(event)
            if self.machine:
                print(json.dumps(record_of(record)), file=self.console.file, flush=True)
            if not (self.console.is_terminal or self.quiet):
                self.console.print(_line(record), style="dim", soft_wrap=True)

    def summary(self) -> None:
        """Print the account of each stream: rows in = on time + late + rejected, over all runs of a checkpoint."""
        if self.machine:
            return
        for name, record in self.latest.items():
            before, total = self.first[name], _batches(record.batch + 1)
            mine = f"{_batches(record.batch + 1 - before)}, {self.totals[name][1]:,} rows out"
            self.console.print(f"\n{name}: {mine}{' in this run' if before else ''}")
            if before and record.controls:
                self.console.print(f"  since the checkpoint began, in {total}:")
            for control in record.controls:
                self.console.print(f"  {_accounted(control)}", soft_wrap=True)
        if not self.latest:
            self.console.print("no batch was completed")

    def _view(self) -> RenderableType:
        return view(self.board, self.console.width)


def _line(record: Progress) -> str:
    return (
        f"{record.pipeline} batch {record.batch}: {record.rows_in:,} rows in, {record.rows_out:,} out, "
        f"{_control(record)}, state {_megabytes(record)}, {record.seconds:.1f} s"
    )


def _control(record: Progress) -> str:
    """Return a line on disorder control. If all rows come from views, it names them: their queries control disorder."""
    if record.views and not record.controls:
        return f"from {_views(record)}"
    if not (record.controls or record.rows_in):
        return "no row was read yet"
    allowed = ", ".join(_limit(each) for each in record.controls)
    return (
        f"late {record.ratio:.2%} of {allowed}, {record.rejected:,} rejected, hold {_seconds(record.recent_hold)}, "
        f"{_standing(record)}, {record.held:,} held"
    ) + _besides(record)


def _besides(record: Progress) -> str:
    refused = f", {record.refused:,} refused" if record.refused else ""
    return refused + (f", also from {_views(record)}" if record.views else "")


def _views(record: Progress) -> str:
    return ", ".join(each.replace(".", " ", 1) for each in record.views)


def _accounted(control: ControlProgress) -> str:
    account = control.account
    lost = f", {account.lost:,} lost" if account.late else ""
    refused = "" if control.refused is None else f"; {control.refused:,} refused in this run"
    return (
        f"{control.stream}: {account.rows:,} rows in = {account.on_time:,} on time + {account.late:,} late + "
        f"{account.untimed:,} rejected; late {control.ratio:.2%} of {_limit(control)}{lost}; "
        f"mean hold {_seconds(control.hold)}; {account.suspect:,} stamped in the future{_given_up(account)}{refused}"
    )


def _given_up(account: Account) -> str:
    """Return for how many rows and how long a cap gave up the drop ratio; an empty text if it never did."""
    if not account.capped:
        return ""
    return f"; the ratio was given up for {account.capped:,} rows in {_seconds(account.capped_time)}, by a cap"


def _behind(record: Progress) -> str:
    """Return the largest lag of a punctuation behind the latest arrival, or `closed` if all streams are closed."""
    if record.controls and all(each.closed for each in record.controls):
        return "closed"
    return _seconds(max((each.lag for each in record.controls), default=0))


def _standing(record: Progress) -> str:
    if record.controls and not any(each.account.punctuation for each in record.controls):
        return "no watermark yet"
    behind = _behind(record)
    return "every window closed" if behind == "closed" else f"{behind} behind"


def _batches(count: int) -> str:
    return "1 batch" if count == 1 else f"{count:,} batches"


def _megabytes(record: Progress) -> str:
    return f"{record.state_bytes / 1e6:.1f} MB"


def _allowed(control: ControlProgress) -> str:
    return "any (SLACK)" if control.dratio is None else ratio_text(control.dratio)


def _limit(control: ControlProgress) -> str:
    """Return the allowed share, to follow "late 0.17% of". SLACK limits how far rows are out of order, not a share."""
    return "any share, by SLACK" if control.dratio is None else f"{_allowed(control)} allowed"


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1_000:.2f} s"


def _first(rows: Sequence[Any]) -> Sequence[Any]:
    """Return the first rows by the end of their window and then by their text, and one sync row.

    Spark returns rows in no order. Rows without a column `window_end` are returned as they come.
    """
    if "window_end" not in rows[0].__fields__:
        return rows[:ROWS_SHOWN]
    answered = filterfalse(_is_sync, rows)
    return nsmallest(ROWS_SHOWN, answered, _place) + nsmallest(1, filter(_is_sync, rows), _place)


def _is_sync(row: Any) -> bool:
    return "_sync" in row.__fields__ and row["_sync"]


def _place(row: Any) -> tuple[Any, tuple[str, ...]]:
    """Return the sort key of a shown row: window end, then its values, as Spark returns them in no fixed order."""
    return row.window_end, tuple(map(str, row))


def cell_text(value: object) -> str:
    """Return a value as short text: a number with two decimals, a timestamp to the millisecond."""
    match value:
        case float():
            return f"{value:.2f}"
        case datetime():
            return value.isoformat(" ", "milliseconds" if value.microsecond else "seconds")
        case _:
            return str(value)
