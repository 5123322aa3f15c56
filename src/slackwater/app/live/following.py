"""Follow the queries of a Spark session in a thread, and send an event of every batch to feeds."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event as Signal
from threading import Thread

from slackwater.app.live.feeds import events_of
from slackwater.app.monitor.board import Event, Feed
from slackwater.app.secrets import hide_secrets
from slackwater.spark.run.follow import Queries

EVERY = 0.5
"""Seconds between two looks at the queries. A smaller value costs the driver time that batches need."""


class Following:
    """Sends events of the batches of all queries of the session to feeds, until it is stopped."""

    def __init__(self, feeds: Sequence[Feed], queries: Queries | None = None, every: float = EVERY) -> None:
        self.feeds = feeds
        self.queries = queries or Queries()
        self.every = every
        self.stopped = Signal()
        self.thread = Thread(target=self._run, name="slackwater-following", daemon=True)

    def start(self) -> Following:
        self.thread.start()
        return self

    def stop(self) -> None:
        self.stopped.set()
        self.thread.join(5)

    def look(self) -> None:
        """Send the events since the last look: batches, and queries that ended."""
        for record in self.queries.news():
            for event in events_of(record):
                self._tell(event)
        for name, error in self.queries.take_ended():
            state = {"state": "failed", "error": hide_secrets({"": error})[""]} if error else {"state": "stopped"}
            self._tell({"kind": "state", "pipeline": name, **state})

    def _tell(self, event: Event) -> None:
        for feed in self.feeds:
            feed(event)

    def _run(self) -> None:
        while not self.stopped.wait(self.every):
            try:
                self.look()
            except Exception:  # a query may end during a look: the next look goes on without it
                if self.queries.is_over:
                    return
