"""`slackwater shell`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def shell(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="A SQL file whose statements are executed first.")
    ] = None,
    declare: Annotated[
        bool,
        typer.Option("--declare", help="Declare the streams, views and sinks of FILE without running its queries."),
    ] = False,
    checkpoint: Annotated[
        Path, typer.Option(metavar="DIR", help="A folder for the checkpoints of INSERT INTO.")
    ] = Path("shell.checkpoint"),
) -> None:
    """Type statements and see the answers; Spark starts while you type.

    SELECT shows rows as they come, until Ctrl-C. Statements may also come from a pipe; then a query reads the rows
    that are there and ends, and the shell exits with 2 at the first mistake.

        slackwater shell
        slackwater shell streams.sql
        echo 'SHOW STREAMS;' | slackwater shell traffic.sql --declare
    """
    from slackwater.app.extras import require

    require("shell", ["prompt_toolkit"], "slackwater shell")
    from slackwater.app.load import read_text
    from slackwater.app.shell.backstage import Backstage, spark_session
    from slackwater.app.shell.workbench import Workbench
    from slackwater.shell.prompt import execute_all, interact, is_interactive

    interactive = is_interactive()
    bench = Workbench(
        Console(highlight=False), Backstage(spark_session, at_once=interactive), checkpoint, endless=interactive
    )
    if file is not None:
        bench.declaring = declare
        if code := execute_all(bench, read_text(file)):
            raise typer.Exit(code)
        bench.declaring = False
    if interactive:
        interact(bench)
    elif code := execute_all(bench, sys.stdin.read()):
        raise typer.Exit(code)
