"""Queries, plans, accounts and advice as HTML, for notebooks; and `watch`, which shows a query live under its cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import MAXYEAR, datetime
from html import escape
from importlib import import_module
from importlib.util import find_spec
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from slackwater.algebra.nodes import Plan
from slackwater.app.monitor.board import Board, Followed, Level
from slackwater.app.monitor.words import amount, percent, seconds
from slackwater.app.render.lines import ChartLine, chart
from slackwater.app.render.svg import graph_of, svg

if TYPE_CHECKING:
    from slackwater.app.advise import Advice

EVERY = 1.0
"""Seconds between two pictures under a cell."""
CELL = "padding:3px 12px 3px 0;text-align:{side};font-variant-numeric:tabular-nums"
BLUE, TEAL, RED, VIOLET = "#2563c9", "#0d8582", "#c9302c", "#7b45c4"


class Explained(str):
    """The result of `sw.explain`: a text, and in a notebook a picture of each plan above it."""

    plans: tuple[tuple[str, Plan], ...]

    def __new__(cls, text: str, plans: Sequence[tuple[str, Plan]] = ()) -> Explained:
        made = super().__new__(cls, text)
        made.plans = tuple(plans)
        return made

    def _repr_html_(self) -> str:
        pictures = "".join(f"<h4>{escape(name)}</h4>{plan_html(plan)}" for name, plan in self.plans)
        return f"{pictures}<details><summary>as text</summary><pre>{escape(self)}</pre></details>"


class Picture(bytes):
    """The bytes of an SVG or PNG file, which a notebook draws."""

    def _repr_svg_(self) -> str | None:
        return None if self.startswith(b"\x89PNG") else self.decode()

    def _repr_png_(self) -> bytes | None:
        return bytes(self) if self.startswith(b"\x89PNG") else None


def plan_html(plan: Plan) -> str:
    """Return a plan as a picture, from the sources at the top down to the result."""
    return svg(graph_of(plan))


def advice_html(advice: Advice) -> str:
    """Return the result of `advise` as a table, with the sentence that sums it up on top."""
    rows = [
        (
            line.name, percent(line.late_share), seconds(line.mean_hold),
            "" if line.p99_hold is None else seconds(line.p99_hold),
            "" if line.worst_tenth is None else percent(line.worst_tenth),
        )
        for line in advice.lines
    ]  # fmt: skip
    broken = {line.name for line in advice.lines if line.late_share > advice.dratio}
    table = html_table(("", "late", "mean hold", "p99 hold", "worst tenth"), rows, red=broken)
    notes = "".join(f"<p>note: {escape(each)}</p>" for each in advice.notes)
    warning = f'<p style="color:{RED}">warning: {escape(advice.warning)}</p>' if advice.warning else ""
    late = f"<p>Why rows are late: {escape(advice.late)}.</p>" if advice.late else ""
    holds = f"<p>At the end: {escape(advice.holds)}.</p>"
    return f"<p><b>{escape(advice.sentence)}</b></p>{table}{notes}{warning}{late}{holds}"


def accounts_html(accounts: Mapping[str, Any]) -> str:
    """Return the accounts of a query as a table: the counts of each stream, its mean hold and its punctuation."""
    headings = (
        "stream",
        "rows",
        "on time",
        "late",
        "lost",
        "rejected",
        "suspect",
        "held",
        "mean hold",
        "punctuation, UTC",
    )
    rows = [
        (
            name, f"{each.rows:,}", f"{each.on_time:,}", f"{each.late:,}", f"{each.lost:,}", f"{each.untimed:,}",
            f"{each.suspect:,}", f"{each.held:,}",
            seconds((each.held_time / max(1, each.on_time)).total_seconds()), _moment(each.punctuation),
        )
        for name, each in accounts.items()
    ]  # fmt: skip
    return html_table(headings, rows)


def _moment(time: datetime | None) -> str:
    """Return a time as text; an empty text if there is no punctuation yet or the stream is closed."""
    return f"{time:%Y-%m-%d %H:%M:%S}" if time is not None and time.year < MAXYEAR else ""


def html_table(headings: Sequence[str], rows: Iterable[Sequence[str]], red: Iterable[str] = ()) -> str:
    """Return a table; rows whose first cell is among `red` are red."""
    marked = set(red)
    head = "".join(f'<th style="{_side(place)}">{escape(each)}</th>' for place, each in enumerate(headings))
    body = "".join(_row(row, row[0] in marked) for row in rows)
    return f'<table style="border-collapse:collapse"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _row(row: Sequence[str], red: bool) -> str:
    colour = f";color:{RED}" if red else ""
    return (
        "<tr>"
        + "".join(f'<td style="{_side(place)}{colour}">{escape(each)}</td>' for place, each in enumerate(row))
        + "</tr>"
    )


def _side(place: int) -> str:
    return CELL.format(side="right" if place else "left")


def watch(query: Any, seconds: float | None = None) -> None:
    """Show the charts of a streaming query under the cell, live, until it ends, the time is up or the cell is stopped.

    The query itself goes on. Outside of a notebook the live table of the terminal is shown instead.

    Parameters
    ----------
    query
        A `StreamingQuery` of this session.
    seconds
        For how long to watch; without it, until the query ends.

    Examples
    --------
    # sw.watch(query, seconds=60)
    """
    following = import_module("slackwater.app.live.following")
    queries = import_module("slackwater.spark.run.follow").Queries(only=query)
    board = Board()
    follow = following.Following([board.enter], queries)
    show = _notebook() or _terminal()
    end = monotonic() + (float("inf") if seconds is None else seconds)
    try:
        while True:
            active = query.isActive
            follow.look()
            show(board)
            if not active or monotonic() >= end:
                return
            sleep(min(EVERY, max(0.0, end - monotonic())))
    except KeyboardInterrupt:
        return


def watch_html(board: Board) -> str:
    """Return the charts of every pipeline of a board."""
    found = "".join(_charts(each, board.clock()) for each in board.pipelines.values() if each.record)
    return found or "waiting for the first batch ..."


def _charts(followed: Followed, now: float) -> str:
    history = followed.history
    columns, times = history.columns, history.columns["at"]
    allowed = (
        [] if followed.allowed is None else [ChartLine("allowed", [followed.allowed] * len(times), RED, dashed=True)]
    )
    late = ChartLine("last minute", columns["ratio_minute"], TEAL), ChartLine("since the start", columns["ratio"], BLUE)
    behind = ChartLine("punctuation", columns["lag"], BLUE), ChartLine("newest event", columns["newest"], TEAL)
    holds = ChartLine("mean", columns["hold_mean"], BLUE), ChartLine("p99", columns["hold_p99"], VIOLET)
    rows = ChartLine("in", history.rates("rows_in"), BLUE), ChartLine("out", history.rates("rows_out"), TEAL)
    pictures = [
        chart("Late share", times, [*late, *allowed], percent),
        chart("Behind the clock", times, behind, seconds),
        chart("Hold", times, holds, seconds),
        chart("Rows per second", times, rows, amount),
    ]
    troubles = "".join(
        f'<div style="color:{RED if level is Level.BROKEN else "#b97800"}">{escape(said)}</div>'
        for level, said in followed.troubles(now)
    )
    said = f"{amount(history.total('rows_in'))} rows in, {percent(followed.ratio)} late"
    title = f"<b>{escape(followed.name)}</b> · batch {followed.record['batch']:,} · {said}"
    grid = "display:grid;grid-template-columns:repeat(2,max-content);gap:6px"
    return f'<div>{title}{troubles}<div style="{grid}">{"".join(pictures)}</div></div>'


def _notebook() -> Any:
    """Return a function that replaces the charts under the cell, or None outside of a notebook."""
    if find_spec("IPython") is None:
        return None
    ipython = import_module("IPython")
    shell = ipython.get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    display = import_module("IPython.display")
    handle = display.display(display.HTML(""), display_id=True)
    return lambda board: handle.update(display.HTML(watch_html(board)))


def _terminal() -> Any:
    rich, terminal = import_module("rich.console"), import_module("slackwater.app.live.terminal")
    console = rich.Console()
    return lambda board: console.print(terminal.view(board, console.width))
