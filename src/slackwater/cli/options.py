"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

File: TypeAlias = Annotated[
    Path, typer.Argument(metavar="FILE", help="A SQL file, or a plan as JSON (`explain --format json` writes one).")
]
Settings: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="A value for `${NAME}` in the file; the environment supplies the rest."
    ),
]
Conf: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--conf", metavar="spark.NAME=VALUE", help="A Spark setting; may be repeated."),
]
