"""`slackwater doctor`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from slackwater.cli.options import Conf


def doctor(
    master: Annotated[str, typer.Option(metavar="URL", help="Where Spark runs.")] = "local[*]",
    checkpoint: Annotated[str | None, typer.Option(metavar="DIR", help="A folder for checkpoints.")] = None,
    conf: Conf = None,
) -> None:
    """Report what is installed here, what is supported, and how to mend the rest.

    Prints versions, starts Spark, asks its workers whether they can import the package, and writes to the checkpoint's
    folder. Exits with 1 if something is wrong.

        slackwater doctor
        slackwater doctor --master spark://host:7077 --checkpoint s3a://bucket/checkpoints
    """
    from slackwater.app.doctor import doctor as examine
    from slackwater.app.options import parse_conf, parse_folder

    place = parse_folder(checkpoint) if checkpoint else None
    if not examine(Console(highlight=False), master, parse_conf(conf or ()), place):
        raise typer.Exit(1)
