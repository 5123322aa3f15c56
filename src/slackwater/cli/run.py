"""`slackwater run`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from slackwater.cli.options import Conf, Settings
from slackwater.errors import InputError

if TYPE_CHECKING:
    from slackwater.app.live.watch import Watch
    from slackwater.dashboard.process import Dashboard


def run(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="A SQL file, or a plan as JSON (`explain --format json` writes one)."),
    ] = None,
    command: Annotated[
        str | None, typer.Option("--command", "-c", metavar="TEXT", help="Statements to run instead of a file.")
    ] = None,
    settings: Settings = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="A folder for the pipelines' checkpoints (default: FILE.checkpoint)."),
    ] = None,
    master: Annotated[
        str, typer.Option(metavar="URL", help="A Spark master: local[*], spark://..., yarn.")
    ] = "local[*]",
    conf: Conf = None,
    available_now: Annotated[
        bool,
        typer.Option(
            "--available-now",
            help="Process all available rows, close every window, then end. In later runs, earlier rows are late.",
        ),
    ] = False,
    no_flush: Annotated[
        bool,
        typer.Option(
            "--no-flush",
            help="With --available-now: keep windows open that may still get rows; for scheduled runs.",
        ),
    ] = False,
    duration: Annotated[
        str | None,
        typer.Option("--for", metavar="TIME", help="Stop this long after the first batch, such as '20 seconds'."),
    ] = None,
    trigger: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Start a batch at this interval, such as '5 seconds' (default: when the previous batch has ended).",
        ),
    ] = None,
    views: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Keep every view here, for this and other runs (default: keep views with two readers)."
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show only warnings and the summary.")] = False,
    machine: Annotated[
        bool, typer.Option("--json", help="Write one line of JSON for each batch, and nothing else.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the run as a picture at the end: a png or svg file.")
    ] = None,
    progress_log: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Append one line of JSON for each batch; the dashboard reads earlier runs."),
    ] = None,
    ui: Annotated[bool, typer.Option("--ui", help="Show the run in the browser: a dashboard on this machine.")] = False,
    ui_port: Annotated[
        int | None, typer.Option(metavar="PORT", help="The dashboard's port (default: the first free one from 8787).")
    ] = None,
    ui_address: Annotated[
        str,
        typer.Option(
            metavar="HOST", help="The dashboard's address; other machines need the token that is printed with it."
        ),
    ] = "127.0.0.1",
    metrics_port: Annotated[
        int | None,
        typer.Option(metavar="PORT", help="Serve /metrics for Prometheus on this port; --ui serves it as well."),
    ] = None,
) -> None:
    """Run every INSERT of FILE and show what each batch does.

    For each pipeline: rows in and out, the share of late rows against the share that the query allows, how long rows
    are held, how far the punctuation is behind, and the size of the state. Ctrl-C stops cleanly; the same command
    continues where it stopped.

        slackwater run traffic.sql
        slackwater run traffic.sql --for '20 seconds'
        slackwater run traffic.sql --ui                          (a dashboard in the browser)
        slackwater run -c "CREATE STREAM S ...; SELECT * FROM S" (statements instead of a file)
        slackwater run traffic.sql --available-now --no-flush    (rows since the last run)
        slackwater run traffic.sql --master spark://host:7077 --conf spark.executor.memory=4g
    """
    from slackwater.app.extras import require
    from slackwater.app.live.watch import Watch
    from slackwater.app.load import load_given
    from slackwater.app.monitor.progress_log import ProgressLog
    from slackwater.app.options import parse_conf, parse_duration, parse_folder
    from slackwater.app.run import Conditions
    from slackwater.app.run import run as run_script

    if trigger is not None and available_now:
        raise InputError("SW-416", "--trigger and --available-now exclude each other", hint="leave one of them out")
    script = load_given(file, command, settings or ())
    stack = ExitStack()
    if checkpoint or file:
        place = parse_folder(checkpoint) if checkpoint else Path(file or "").with_suffix(".checkpoint")
    else:
        folder = TemporaryDirectory(prefix="slackwater-run-", ignore_cleanup_errors=True)
        place = Path(stack.enter_context(folder)) / "checkpoint"
    conditions = Conditions(
        place,
        master,
        available_now,
        not no_flush,
        parse_duration(duration),
        parse_conf(conf or ()),
        parse_folder(views) if views else None,
        parse_duration(trigger) or 0.0,
    )
    if plot is not None:
        require("plot", ("matplotlib",), "a picture of the run")
    console = Console(highlight=False)
    with stack:
        feeds = [stack.enter_context(ProgressLog(progress_log)).enter] if progress_log else []
        for pages, port in ((True, ui_port), (False, metrics_port)):
            if ui if pages else metrics_port is not None:
                shown = stack.enter_context(_dashboard(ui_address, port, pages, progress_log))
                Console(stderr=machine, highlight=False).print(
                    f"dashboard: {shown.url}" if pages else f"metrics: {shown.metrics_url}", soft_wrap=True
                )
                feeds.append(shown.enter)
        watch = Watch(console, quiet=quiet, machine=machine, feeds=feeds, sampled=ui)
        run_script(script, conditions, watch)
        if plot is not None:
            _draw(watch, plot)


def _draw(watch: Watch, file: Path) -> None:
    from slackwater.app.monitor.picture import draw_run

    draw_run(watch.board, file)
    watch.console.print(f"picture of the run: {file}", soft_wrap=True)


def _dashboard(address: str, port: int | None, pages: bool, log: Path | None) -> Dashboard:
    from slackwater.dashboard.process import Dashboard

    return Dashboard(address, port, pages=pages, history=str(log or ""))
