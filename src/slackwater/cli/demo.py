"""`slackwater demo`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console

from slackwater.cli.run import run

Demo = StrEnum("Demo", ["traffic", "animals", "tolls", "sensors", "clicks"])


def demo(
    name: Annotated[
        Demo | None, typer.Argument(help="Which demo; without it, they are listed.", show_default=False)
    ] = None,
    duration: Annotated[
        str, typer.Option("--for", metavar="TIME", help="Stop this long after the first batch.")
    ] = "45 seconds",
    ui: Annotated[bool, typer.Option("--ui", help="Show the run in the browser: a dashboard on this machine.")] = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the run as a picture at the end: a png or svg file.")
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Print the SQL of the demo instead of running it.")] = False,
) -> None:
    """Run a query over a stream that is made on the spot, and say what to look at.

    Without a name, the demos are listed. A demo runs for 45 seconds, or for the time that --for states; its SQL is a
    file to start from.

        slackwater demo
        slackwater demo tolls --for '1 minute'
        slackwater demo clicks --show > clicks.sql
    """
    from slackwater.app.project import demo_sentences, demo_text

    console = Console(highlight=False)
    if name is None:
        for each in Demo:
            console.print(f"{each.value:10}{demo_sentences(each.value)[0]}", soft_wrap=True, markup=False)
    elif show:
        typer.echo(demo_text(name.value), nl=False)
    else:
        console.print("\n".join(demo_sentences(name.value)) + "\n", soft_wrap=True, markup=False)
        with TemporaryDirectory(prefix="slackwater-demo-", ignore_cleanup_errors=True) as folder:
            run(
                command=demo_text(name.value),
                checkpoint=str(Path(folder) / "checkpoint"),
                duration=duration,
                ui=ui,
                plot=plot,
            )
