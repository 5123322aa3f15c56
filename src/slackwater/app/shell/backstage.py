"""Spark, started behind the scenes while somebody types."""

from __future__ import annotations

import threading
from collections.abc import Callable

from rich.console import Console

from slackwater.errors import SlackwaterError


class Backstage:
    """Starts Spark in a thread, `at_once` or at the first `wait`, so that somebody can type meanwhile."""

    def __init__(self, start: Callable[[], object], *, at_once: bool = True) -> None:
        self.failure: SlackwaterError | None = None
        self.start = start
        self.thread = threading.Thread(target=self._work, daemon=True)
        if at_once:
            self.thread.start()

    def _work(self) -> None:
        try:
            self.start()
        except SlackwaterError as failure:
            self.failure = failure

    def wait(self, console: Console) -> None:
        """Wait until Spark has started; raise the error if it could not. Ctrl-C stops the waiting, not the start."""
        if self.thread.ident is None:
            self.thread.start()
        if self.thread.is_alive():
            console.print("starting Spark ...", style="dim")
        while self.thread.is_alive():
            self.thread.join(0.1)
        if self.failure is not None:
            raise self.failure


def spark_session() -> object:
    """Start the Spark session of this machine, and import what queries need."""
    from slackwater.app import run  # noqa: F401, PLC0415
    from slackwater.spark.session import local_session  # noqa: PLC0415

    return local_session()
