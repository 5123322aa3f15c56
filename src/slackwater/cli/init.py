"""`slackwater init`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def init(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="The folder to make; it must not exist, or be empty.")],
) -> None:
    """Write a small project: a query, its tests, data, a Makefile and monitoring.

    It runs as it is: `make test`, `make explain`, `make run`. Its README says what to do next.

        slackwater init readings
    """
    from shlex import quote

    from slackwater.app.project import write_project

    for file in write_project(name):
        typer.echo(file)
    typer.echo(f"\ncd {quote(str(name))} && make help")
