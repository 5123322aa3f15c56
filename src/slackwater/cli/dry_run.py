"""`slackwater dry-run`."""

from __future__ import annotations

from rich.console import Console

from slackwater.cli.options import File, Settings


def dry_run(file: File, settings: Settings = None) -> None:
    """Check everything in FILE that can be checked without running it.

    The text, every name and type, that formats and columns of sources and sinks exist, and that Spark accepts every
    plan. Exits with 2 and says what is wrong and where, or lists what it found right.

        slackwater dry-run traffic.sql
    """
    from slackwater.app.dry_run import dry_run as check
    from slackwater.app.load import load

    console = Console(highlight=False)
    for line in check(load(file, settings or ())):
        console.print(f"ok  {line}", soft_wrap=True)
