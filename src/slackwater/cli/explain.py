"""`slackwater explain`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from slackwater.app.plans.formats import Format
from slackwater.cli.options import Conf, File, Settings
from slackwater.errors import InputError


def explain(
    file: File,
    rewrites: Annotated[
        bool, typer.Option("--rewrites", help="Show what the optimiser changes, by which rule, and the savings.")
    ] = False,
    physical: Annotated[
        bool,
        typer.Option(
            "--physical", help="Show who runs each operator on Spark, why, and Spark's own plan (opens Spark)."
        ),
    ] = False,
    form: Annotated[
        Format, typer.Option("--format", help="Text for people; the others for programs and pictures.")
    ] = Format.TEXT,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The file to write (default: standard output)."),
    ] = None,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose", "-v", help="Also show the properties for the optimiser: class, order, locality of rows."
        ),
    ] = False,
    settings: Settings = None,
    conf: Conf = None,
) -> None:
    """Show the plan of every query in FILE, without running anything.

    Each operator stands above its inputs; the line below it says which columns leave it, their key and at which
    instants they are evaluated; with --verbose also their monotonicity class, their order and whether each partition
    can be computed alone. Defaults of the disorder policy are spelled out.

        slackwater explain traffic.sql
        slackwater explain traffic.sql --rewrites
        slackwater explain traffic.sql --physical
        slackwater explain traffic.sql --format svg -o plan.svg
    """
    from slackwater.app.load import load
    from slackwater.app.options import parse_conf
    from slackwater.app.plans import explain as explaining

    if form is Format.PNG and output is None and sys.stdout.isatty():
        raise InputError(
            "SW-419",
            "a PNG picture is not for a terminal",
            expected="a file",
            hint="write -o plan.png, or redirect the output: > plan.png",
        )
    script = load(file, settings or (), parse_conf(conf or ()))
    if form is Format.TEXT and output is None:
        shown = explaining.render_plans(script, rewritten=rewrites, physical=physical, verbose=verbose)
        Console(soft_wrap=True, highlight=False).print(shown)
        return
    if form.is_picture:
        data = explaining.draw_plans(script, form, rewritten=rewrites, physical=physical)
    else:
        text = explaining.write_plans(script, form, rewritten=rewrites, physical=physical, verbose=verbose)
        data = f"{text}\n".encode()
    if output is None:
        sys.stdout.buffer.write(data)
    else:
        output.write_bytes(data)
