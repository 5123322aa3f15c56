"""`slackwater`: the commands and how their errors are shown."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.console import Console

from slackwater import __version__
from slackwater.cli.advise import advise
from slackwater.cli.demo import demo
from slackwater.cli.doctor import doctor
from slackwater.cli.dry_run import dry_run
from slackwater.cli.explain import explain
from slackwater.cli.init import init
from slackwater.cli.run import run
from slackwater.cli.shell import shell
from slackwater.cli.test import test
from slackwater.errors import SlackwaterError

app = typer.Typer(
    name="slackwater",
    help="Continuous SQL on Spark over streams that arrive late and out of order.\n\n"
    "State how many late rows you can afford; Slackwater finds the watermark.",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)

for command in (init, demo, run, shell, dry_run, explain, test, advise, doctor):
    app.command()(command)


def _told(version: bool) -> None:
    if version:
        typer.echo(f"slackwater {__version__}")
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_told)
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line. A Slackwater error is shown without a traceback, and exits with 2."""
    try:
        app()
    except SlackwaterError as error:
        Console(stderr=True, highlight=False).print(str(error), markup=False, soft_wrap=True)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(0)


if __name__ == "__main__":
    main()
