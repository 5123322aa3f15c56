"""`slackwater doctor`: check the installation, and say how to mend each fault."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console

from slackwater.spark.run.doctor import examine


def doctor(console: Console, master: str, settings: Mapping[str, str], checkpoint: str | None) -> bool:
    """Print the finding of each check, with advice if it failed; return whether all checks passed."""
    right = True
    for finding in examine(master, settings, checkpoint):
        right = right and finding.right
        console.print(f"{'ok ' if finding.right else 'no '} {finding.what}", soft_wrap=True, markup=False)
        if not finding.right:
            console.print(f"    do: {finding.hint}", soft_wrap=True, markup=False)
    return right
