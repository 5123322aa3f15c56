"""`slackwater run`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from slackwater.cli.options import Conf, File, Settings


def run(
    file: File,
    settings: Settings = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Where the pipelines keep their place (default: FILE.checkpoint beside it)."),
    ] = None,
    master: Annotated[str, typer.Option(help="A Spark master: local[*], spark://..., yarn.")] = "local[*]",
    conf: Conf = None,
    available_now: Annotated[
        bool,
        typer.Option(
            "--available-now",
            help="Process what is there, close every window, then end: in later runs, rows of earlier times are late.",
        ),
    ] = False,
    no_flush: Annotated[
        bool,
        typer.Option(
            "--no-flush",
            help="With --available-now: leave windows open that may still get rows; for runs on a schedule.",
        ),
    ] = False,
    duration: Annotated[
        str | None,
        typer.Option("--for", metavar="TIME", help="Stop after so much time of running, such as '20 seconds'."),
    ] = None,
    views: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Keep every view here, for this and other runs (default: those with two readers)."
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show warnings and the summary alone.")] = False,
) -> None:
    """Run every INSERT of FILE and show what each batch does.

    For each pipeline: rows in and out, the share of late rows against the share that the query allows, how long rows
    are held, how far the punctuation is behind, and the size of the state. Ctrl-C stops cleanly; the same command goes
    on where it stopped.

        slackwater run traffic.sql
        slackwater run traffic.sql --for '20 seconds'
        slackwater run traffic.sql --available-now --no-flush    (what has come since the last time)
        slackwater run traffic.sql --master spark://host:7077 --conf spark.executor.memory=4g
    """
    from slackwater.app.load import load
    from slackwater.app.options import parse_conf, parse_duration, parse_folder
    from slackwater.app.run import Conditions
    from slackwater.app.run import run as run_script
    from slackwater.app.watch import Watch

    conditions = Conditions(
        parse_folder(checkpoint) if checkpoint else file.with_suffix(".checkpoint"),
        master,
        available_now,
        not no_flush,
        parse_duration(duration),
        parse_conf(conf or ()),
        parse_folder(views) if views else None,
    )
    run_script(load(file, settings or ()), conditions, Watch(Console(highlight=False), quiet=quiet))
