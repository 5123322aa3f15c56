"""A query of the shell as it runs: its rows scroll by, its late rows are remembered."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console

from slackwater.algebra.catalog import Pipeline
from slackwater.app.live.watch import Watch
from slackwater.spark.run.progress import Progress


class ShellWatch(Watch):
    """Shows rows as they come; `late` takes the rows of the pipelines that it names."""

    def __init__(self, console: Console, late: Mapping[str, deque[Any]], *, endless: bool) -> None:
        super().__init__(console)
        self.late = late
        self.endless = endless

    def starting(self) -> None:
        """Print nothing: the shell has already said that Spark starts."""

    def begins(self, pipeline: Pipeline, trigger: float = 0.0) -> None:
        super().begins(pipeline, trigger)
        if self.endless:
            self.console.print("Ctrl-C stops the query", style="dim")

    def __enter__(self) -> ShellWatch:
        return self

    def on_rows(self, pipeline: str) -> Callable[[int, Sequence[Any]], None]:
        if pipeline not in self.late:
            return super().on_rows(pipeline)
        return lambda _, rows: self.late[pipeline].extend(rows)

    def news(self, records: Sequence[Progress]) -> None:
        """Add batches to the totals and send their events, without a line for each."""
        quiet, self.quiet = self.quiet, True
        try:
            super().news(records)
        finally:
            self.quiet = quiet
