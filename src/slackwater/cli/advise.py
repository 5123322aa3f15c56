"""`slackwater advise`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress, TaskID
from rich.table import Table

if TYPE_CHECKING:
    from slackwater.app.advise import Advice, AdviseRequest


def advise(
    trace: Annotated[
        Path,
        typer.Argument(metavar="TRACE", help="CSV (also .gz), Parquet or JSON lines; a file, or a folder of them."),
    ],
    event: Annotated[str, typer.Option(metavar="COLUMN", help="The event time: when it happened. Must be given.")] = "",
    arrival: Annotated[
        str, typer.Option(metavar="COLUMN", help="The arrival time: when it was received. Must be given.")
    ] = "",
    source: Annotated[str | None, typer.Option(metavar="COLUMN", help="The name of the sender.")] = None,
    dratio: Annotated[str, typer.Option(metavar="SHARE", help="The share of rows that may be late.")] = "1%",
    batch: Annotated[
        str, typer.Option(metavar="LENGTH", help="The length of a micro-batch: a time, or '500 rows'.")
    ] = "1 second",
    unit: Annotated[
        str, typer.Option(metavar="UNIT", help="Unit of times written as numbers: s, ms, us, or auto.")
    ] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the comparison to a PNG or SVG file.")] = None,
) -> None:
    """Compare every way to set a watermark on a stream that you recorded.

    Replays the trace through every estimator, and through the best choices in hindsight: the best constant delay, the
    best delay per interval, and the optimum. Shows the share of late rows, how long rows are held, and the
    withWatermark delay that would have kept the same share.

        slackwater advise trace.csv.gz --event event_ms --arrival arrival_ms --dratio 1%
    """
    from slackwater.app.advise import AdviseRequest
    from slackwater.app.options import parse_batch, parse_share, parse_unit

    request = AdviseRequest(trace, event, arrival, source, parse_share(dratio), parse_unit(unit), parse_batch(batch))
    advice = _followed(request, Console(stderr=True))
    if plot is not None:
        from slackwater.app.extras import require

        require("plot", ("matplotlib",), "a plot")
        from slackwater.app.advise_plot import plot as draw

        draw(advice, plot)
    if as_json:
        typer.echo(json.dumps(advice.document(), indent=2))
    else:
        _show(advice, Console(highlight=False))


def _followed(request: AdviseRequest, console: Console) -> Advice:
    from slackwater.app.advise import advise

    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        tasks: dict[str, TaskID] = {}

        def on(name: str, more: int, rows: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=rows)
            bar.advance(tasks[name], more)

        return advise(request, on)


def _show(advice: Advice, console: Console) -> None:
    table = Table(title=f"{advice.trace}: {advice.rows:,} rows", title_justify="left", box=None)
    for column in ("", "late", "worst tenth", "mean hold", "p99 hold", "rows held"):
        table.add_column(column, no_wrap=True)
    for line in advice.lines:
        over = "bold red" if line.late_share > advice.dratio else ""
        table.add_row(
            line.name,
            f"[{over}]{line.late_share:.3%}[/]" if over else f"{line.late_share:.3%}",
            "" if line.worst_tenth is None else f"{line.worst_tenth:.2%}",
            f"{line.mean_hold:.3f} s",
            "" if line.p99_hold is None else f"{line.p99_hold:.3f} s",
            "" if line.mean_held is None else f"{line.mean_held:,.0f}",
            style="dim" if line.yardstick else "bold" if line.name == "budget" else "",
        )
    console.print(table)
    for note in advice.notes:
        console.print(f"note: {note}", soft_wrap=True)
    if advice.warning:
        console.print(f"[bold red]warning:[/] {advice.warning}", soft_wrap=True)
    console.print(f"\n{advice.sentence}", soft_wrap=True)
    if advice.late:
        console.print(f"Why rows are late: {advice.late}.", soft_wrap=True)
    console.print(f"At the end: {advice.holds}.", soft_wrap=True)
