"""Follow all streaming queries of a session, also those that are no pipelines of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from slackwater.spark.refusals import line_of
from slackwater.spark.run.progress import Ledger, Progress
from slackwater.spark.shim.driver import is_stopped
from slackwater.spark.watermark.accounts import stream_of
from slackwater.spark.watermark.gauge import controls_of
from slackwater.spark.watermark.punctuate import Account
from slackwater.spark.watermark.steering import Controls


class Queries:
    """The queries of a session that were active at a call of `news`; if `only` is given, that query alone."""

    def __init__(self, session: SparkSession | None = None, only: StreamingQuery | None = None) -> None:
        self.session = session or SparkSession.active()
        self.only = only
        self.known: dict[str, tuple[StreamingQuery, Ledger]] = {}

    def news(self) -> list[Progress]:
        """Return the records of all batches that ended since the last call."""
        controls = controls_of(self.session)
        found: list[Progress] = []
        for query in [self.only] if self.only else self.session.streams.active:
            run = str(query.runId)
            if run not in self.known:
                told = partial(controls.report, run)
                self.known[run] = query, Ledger(name_of(query), {}, _accounts(controls, run), told=told)
            ledger = self.known[run][1]
            ledger.dratios = {stream_of(name): ratio for name, ratio in controls.dratios(run).items()}
            found += ledger.read(query)
        return found

    @property
    def is_over(self) -> bool:
        """Return whether the session was stopped."""
        return is_stopped(self.session)

    def take_ended(self) -> list[tuple[str, str]]:
        """Return the queries that ended since the last call, each with its error or an empty text."""
        gone = {run: query for run, (query, _) in self.known.items() if not query.isActive}
        for run in gone:
            del self.known[run]
        return [(name_of(query), _error(query)) for query in gone.values()]


def name_of(query: StreamingQuery) -> str:
    """Return the name under which a query is shown: its own, or the beginning of its id."""
    return query.name or f"query {str(query.id)[:8]}"


def _accounts(controls: Controls, run: str) -> Callable[[int], Mapping[str, Account]]:
    """Return a function for the current accounts of a run, whatever the batch.

    The accounts after a given batch are in the checkpoint, whose place is not known here.
    """
    return lambda _: controls.accounts(run)


def _error(query: StreamingQuery) -> str:
    try:
        failure = query.exception()
    except PySparkException as cause:
        return line_of(str(cause)) or type(cause).__name__
    return (line_of(str(failure)) or type(failure).__name__) if failure else ""
