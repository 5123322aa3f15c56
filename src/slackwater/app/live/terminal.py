"""The live view of a run on a terminal: warnings, a line per pipeline, the latest answers. It fits 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from slackwater.app.monitor.board import Board, Followed, Level
from slackwater.app.monitor.history import spark_line
from slackwater.app.monitor.words import amount, percent, seconds

BARS = "▁▂▃▄▅▆▇█"
SPARK, HOLD, NAME = 10, 5, 13
"""Characters of the sparkline, of the bar for the hold, and of a pipeline's name."""
PIPELINES, ANSWERS = 12, 6
"""Lines that are shown; what is left out is counted."""
COLOURS = {Level.GOOD: "green", Level.WARNING: "yellow", Level.BROKEN: "red"}


def view(board: Board, width: int = 80) -> RenderableType:
    """Return the live view for a terminal of this width."""
    followed = [each for each in board.pipelines.values() if each.record]
    if not followed:
        return Text("waiting for the first batch ...", style="dim")
    parts: list[RenderableType] = [*_warnings(board, width), _table(followed[:PIPELINES], board.clock())]
    if len(followed) > PIPELINES:
        parts.append(Text(f"and {len(followed) - PIPELINES} more pipelines", style="dim"))
    latest = next((each for each in reversed(followed) if each.answers), None)
    if latest is not None:
        parts += [Text(), Text(f"latest answers of {latest.name}", style="dim"), _answers(latest, width)]
    return Group(*parts)


def _warnings(board: Board, width: int) -> list[Text]:
    now = board.clock()
    found = [(each.name, level, said) for each in board.pipelines.values() for level, said in each.troubles(now)]
    lines = [Text(f"{name}: {said}", style=COLOURS[level]) for name, level, said in found[:3]]
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return lines


def _table(pipelines: Sequence[Followed], now: float) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0), pad_edge=False)
    for heading, side in HEADINGS:
        table.add_column(heading, justify="right" if side else "left", no_wrap=True)
    longest = max(each.record.get("hold", {}).get("mean", 0.0) for each in pipelines) or 1.0
    for each in pipelines:
        hold = each.record.get("hold", {}).get("mean", 0.0)
        table.add_row(
            Text.assemble(("● ", COLOURS[each.level(now)]), _cut(each.name, NAME)),
            amount(each.history.rate("rows_in")),
            _late(each),
            sparkline(each.history.columns["ratio_minute"], each.allowed),
            Text.assemble(f"{seconds(hold / 1_000):>7} ", ("▇" * round(HOLD * hold / longest), "blue")),
            "closed" if each.closed else seconds(each.behind),
            seconds(each.record.get("seconds", 0.0)),
        )
    return table


HEADINGS = (
    ("pipeline", 0), ("rows/s", 1), ("late", 0), ("last minute", 0), ("   hold", 0), ("behind", 1), ("batch", 1),
)  # fmt: skip


def _late(followed: Followed) -> Text:
    bound = "" if followed.allowed is None else f" of {percent(followed.allowed)}"
    broken = any(level is Level.BROKEN for level, _ in followed.troubles(0))
    return Text.assemble((percent(followed.ratio), "bold red" if broken else ""), (bound, "dim"))


def sparkline(values: Sequence[float], allowed: float | None, width: int = SPARK) -> Text:
    """Return the history of a share as a line of bars. Bars above the allowed share are red.

    >>> sparkline([0.0, 0.005, 0.01, 0.02], 0.01).plain
    '▁▃▅█'
    """
    shown = spark_line(values[-200:], width)
    top = max([*shown, (allowed or 0.0) * 1.5, 1e-9])
    line = Text()
    for value in shown:
        over = allowed is not None and value > allowed
        line.append(BARS[min(len(BARS) - 1, int(len(BARS) * value / top))], "red" if over else "cyan")
    return line


def _answers(followed: Followed, width: int) -> Table:
    rows = list(followed.answers)[-ANSWERS:]
    columns = list(rows[-1])
    room = max(6, width // max(1, min(len(columns), 6)) - 2)
    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0), pad_edge=False)
    for name in columns[:6]:
        table.add_column(_cut(name, room), no_wrap=True, max_width=room)
    for row in rows:
        table.add_row(*(_cut(str(row.get(name, "")), room) for name in columns[:6]))
    return table


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
