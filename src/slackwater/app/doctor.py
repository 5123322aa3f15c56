"""`slackwater doctor`: what is installed, what is supported, and what to do about what is not."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console

from slackwater.spark.run.checks import examine


def doctor(console: Console, master: str, settings: Mapping[str, str], checkpoint: str | None) -> bool:
    """Print what was found, line by line; gives whether all of it is right."""
    right = True
    for finding in examine(master, settings, checkpoint):
        right = right and finding.right
        console.print(f"{'ok ' if finding.right else 'no '} {finding.what}", soft_wrap=True, markup=False)
        if not finding.right:
            console.print(f"    do: {finding.hint}", soft_wrap=True, markup=False)
    return right
