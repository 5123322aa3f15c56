"""Turn Spark's progress into one record per batch, for the terminal, the dashboard, metrics and logs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib import import_module
from types import MappingProxyType
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from slackwater.spark.io.rejects import EXAMPLE, MALFORMED, REJECTED, UNTIMED
from slackwater.spark.operator.host import COUNTED as OUTPUTS
from slackwater.spark.operator.kernel import count_refused
from slackwater.spark.shim.workers import is_connect
from slackwater.spark.watermark.accounts import number_control, stream_of
from slackwater.spark.watermark.control import READ
from slackwater.spark.watermark.gauge import controls_of
from slackwater.spark.watermark.punctuate import Account
from slackwater.spark.watermark.rows_host import ACCOUNT
from slackwater.spark.watermark.statement import Statement


@dataclass(frozen=True, slots=True)
class Rejections:
    """How many rows of a stream came and how many were rejected, for which reasons, and an example of a rejected row.

    A row may be rejected for several reasons and counts for each. `side` is the stream that contains all rejected rows.
    """

    stream: str
    side: str
    rows: int
    rejected: int
    reasons: Mapping[str, int] = field(default_factory=dict)
    example: str = ""

    def __add__(self, other: Rejections) -> Rejections:
        names = [*self.reasons, *(name for name in other.reasons if name not in self.reasons)]
        reasons = {name: self.reasons.get(name, 0) + other.reasons.get(name, 0) for name in names}
        rows, rejected = self.rows + other.rows, self.rejected + other.rejected
        return replace(self, rows=rows, rejected=rejected, reasons=reasons, example=self.example or other.example)


def with_reasons(found: Rejections, observed: Mapping[str, Any]) -> Rejections:
    """Return the rejections of a batch with reasons and an example from the metrics of its progress, if it has any.

    Most formats have no such metrics; then a missing event time is the only reason.
    """
    told = {name.lower(): row for name, row in observed.items()}.get(f"{REJECTED}.{found.stream}".lower())
    counts = {} if told is None else dict(told.asDict() if hasattr(told, "asDict") else told)
    example, malformed = counts.pop(EXAMPLE, None), int(counts.pop(MALFORMED, 0) or 0)
    reasons = {reason: int(count) for reason, count in counts.items() if count}
    if found.rejected > malformed:
        reasons[UNTIMED] = found.rejected - malformed
    return replace(found, reasons=reasons, example=example or "")


OUTPUT = "slackwater.output"
"""The name of the metric that counts the result rows of a pipeline."""
TOLD = "controls"
"""The field of that metric with what the controls saw in the batch, as JSON."""
ANSWER = "answer"
"""The field of that metric with one of the result rows as JSON, if the run samples them."""
COUNTED = {
    "rows_in": "rows",
    "late": "late",
    "lost": "lost",
    "rejected": "untimed",
    "suspect": "suspect",
    "held_time": "held_time",
}
"""The counts of a record, each with the field of an account that it is the increase of."""


@dataclass(frozen=True, slots=True)
class ControlProgress:
    """The disorder control of one stream: its counts since the pipeline first began; times in ms.

    `refused` is the number of rows that a stream with CHANGELOG BY has refused since this run began; it is None for
    other streams. `seen` is what the control saw in this batch (see `Seen`): delays, holds, late rows.
    """

    stream: str
    dratio: float | None
    account: Account
    refused: int | None = None
    seen: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        """Return the realised share of late rows."""
        return self.account.late / self.account.rows if self.account.rows else 0.0

    @property
    def hold(self) -> float:
        """Return the mean time that an on-time row waited, from its arrival to the punctuation that passed it."""
        return self.account.held_time / self.account.on_time if self.account.on_time else 0.0

    @property
    def lag(self) -> int:
        """Return how far the punctuation is behind the clock: the latest arrival plus the silence since then."""
        account = self.account
        return account.clock + account.silence - account.punctuation if account.punctuation else 0

    @property
    def holds(self) -> str:
        """Return a sentence on why the punctuation is not further ahead after this batch, or an empty text."""
        return str(self.seen.get("holds", ""))

    @property
    def closed(self) -> bool:
        """Return whether a flush took the punctuation beyond every row and beyond the clock."""
        return self.account.closed and self.lag < 0


@dataclass(frozen=True, slots=True)
class Progress:
    """One batch of a pipeline. Counts are of this batch; `controls` and `held` are of everything since the start.

    `rows_in` = `on_time` + `late` + `rejected` + `rows_read`, exactly. `rows_read` come from the logs of `views`, in
    order, and none of them is late. `suspect` rows are on time or late. `lost` rows are late rows that an answer had
    to do without. Rows that a changelog `refused` may have come in an earlier batch: they are refused when the
    punctuation passes them.

    The batch ended `at` this time, in ms since 1970, in the `run` with this id. `parts` has the ms of each part of the
    batch, by Spark's names. `answer` is one of the result rows as JSON, if the run samples them.
    """

    pipeline: str
    batch: int
    rows_in: int
    rows_out: int
    late: int
    rejected: int
    suspect: int
    held: int
    held_time: int
    state_bytes: int
    seconds: float
    controls: tuple[ControlProgress, ...]
    views: tuple[str, ...] = ()
    rows_read: int = 0
    refused: int = 0
    rejections: tuple[Rejections, ...] = ()
    at: int = 0
    run: str = ""
    parts: Mapping[str, int] = field(default_factory=dict)
    state_rows: int = 0
    answer: str | None = None
    lost: int = 0

    @property
    def on_time(self) -> int:
        return self.rows_in - self.late - self.rejected - self.rows_read

    @property
    def ratio(self) -> float:
        rows = sum(each.account.rows for each in self.controls)
        return sum(each.account.late for each in self.controls) / rows if rows else 0.0

    @property
    def hold(self) -> float:
        """Return the mean hold over all streams, in milliseconds."""
        rows = sum(each.account.on_time for each in self.controls)
        return sum(each.account.held_time for each in self.controls) / rows if rows else 0.0

    @property
    def recent_hold(self) -> float:
        """Return the mean hold of the rows of this batch, or that of all rows if none of this batch was on time."""
        return self.held_time / self.on_time if self.on_time else self.hold

    @property
    def punctuation(self) -> int:
        """Return the smallest punctuation of all streams."""
        return min((each.account.punctuation for each in self.controls), default=0)


class Ledger:
    """Turns the progress events of one query, in order, into records, as increases over the accounts so far.

    `kept` has the accounts of a resumed query from its checkpoint, by control; `after` returns those after a batch.
    `told` returns what the controls saw in the last batch, as JSON, for queries that are no pipelines.
    """

    def __init__(
        self,
        pipeline: str,
        dratios: Mapping[str, float | None],
        after: Callable[[int], Mapping[str, Account]],
        kept: Mapping[str, Account] = MappingProxyType({}),
        told: Callable[[], str] = lambda: "{}",
    ) -> None:
        self.pipeline = pipeline
        self.dratios = dratios
        self.after = after
        self.accounts = dict(kept)
        self.told = told
        self.refused: Counter[str] = Counter()
        self.batch = -1
        self.reported: object = None

    def read(self, query: StreamingQuery) -> list[Progress]:
        """Return the records of the batches that ended since the last call."""
        return [record for event in self._events(query) if (record := self.enter(event)) is not None]

    def _events(self, query: StreamingQuery) -> Sequence[Mapping[str, Any]]:
        """Return Spark's progress events since the last call, perhaps with some earlier ones.

        All events that Spark keeps are a hundred, and parsing them takes time from the controllers in this process.
        Mostly none or one is new, so only the last one is fetched if it follows the one before.
        """
        latest = query.lastProgress
        if latest is None:
            return []
        before, self.reported = self.reported, (str(latest["runId"]), latest["batchId"], latest["timestamp"])
        if self.reported == before:
            return []
        alone = "addBatch" in latest["durationMs"] and latest["batchId"] == self.batch + 1
        return [latest] if alone else query.recentProgress

    def enter(self, event: Mapping[str, Any]) -> Progress | None:
        """Return the record of an event, or None if the event is no batch or was seen before."""
        if event["batchId"] <= self.batch or "addBatch" not in event["durationMs"]:
            return None
        self.batch = event["batchId"]
        observed: Mapping[str, Any] = event.get("observedMetrics") or {}
        before, after = self.accounts, self.accounts | dict(self.after(self.batch))
        self.accounts = after
        counts = {
            field: sum(
                getattr(account, name) - getattr(before.get(key, Account()), name) for key, account in after.items()
            )
            for field, name in COUNTED.items()
        }
        read, refused, output = _read(observed), _refused(observed), _values(observed.get(OUTPUT, {}))
        seen = json.loads(output.get(TOLD) or self.told())
        self.refused.update(refused)
        counts["rows_in"] += sum(read.values())
        return Progress(
            self.pipeline,
            self.batch,
            rows_out=_rows_out(output, event),
            state_bytes=sum(each["memoryUsedBytes"] for each in event["stateOperators"]),
            state_rows=sum(each.get("numRowsTotal", 0) for each in event["stateOperators"]),
            seconds=event["durationMs"]["triggerExecution"] / 1_000,
            at=_ended(event),
            run=str(event.get("runId", "")),
            parts=_parts(event["durationMs"]),
            answer=output.get(ANSWER),
            held=sum(account.held for account in after.values()),
            controls=tuple(self._control(name, each, seen.get(name, {})) for name, each in after.items()),
            views=tuple(read),
            rows_read=sum(read.values()),
            refused=sum(refused.values()),
            rejections=tuple(self._rejections(name, before.get(name, Account()), observed) for name in after),
            **counts,
        )

    def _control(self, name: str, account: Account, seen: Mapping[str, Any]) -> ControlProgress:
        stream = stream_of(name)
        return ControlProgress(stream, self.dratios.get(stream), account, self.refused.get(stream), seen)

    def _rejections(self, name: str, before: Account, observed: Mapping[str, Any]) -> Rejections:
        """Return the rejected rows since the account `before` of the stream of a control."""
        stream, now = stream_of(name), self.accounts[name]
        several = f"${stream}" if len(self.dratios) > 1 else ""
        rows, rejected = now.rows - before.rows, now.untimed - before.untimed
        return with_reasons(Rejections(stream, f"{self.pipeline}{several}$rejected", rows, rejected), observed)


class Accounts(dict[str, Statement]):
    """Accounts by the names of their streams; printed, one line for each; in a notebook, a table."""

    def __str__(self) -> str:
        return "\n".join(f"{name}: {account}" for name, account in self.items())

    def _repr_html_(self) -> str:
        return str(import_module("slackwater.app.live.notebook").accounts_html(self))


def accounts(query: StreamingQuery) -> Accounts:
    """Return what the controls of a query have counted so far, by the names of their streams.

    The control of a DataFrame has the name of its event time. A query that has ended is still known, until another
    begins with its checkpoint.

    Of an account, `rows` = `on_time` + `late` + `untimed` (without an event time); `lost` rows are late and were left
    out of an answer, `suspect` ones are stamped further than SKEW after their arrival, and `held` ones wait now. Times,
    in UTC, are `punctuation`, the watermark; `newest`, the newest event time, and `furthest`, that of suspect rows as
    well; `clock`, the latest arrival. `held_time / on_time` is how long a row has waited on average; `capped` rows came
    while WITHIN, SLACK or BSIZE had given up the ratio, for `capped_time`. `help(type(account))` has all fields.

    Parameters
    ----------
    query
        A query that was started in this session.

    Returns
    -------
    Accounts
        A mapping from names to accounts. `print` writes one line for each, a notebook shows a table.

    Examples
    --------
    query = controlled.writeStream.format("noop").start()  # of with_disorder_control, above
    query.processAllAvailable()
    account = sw.accounts(query)["ts"]
    assert account.rows == account.on_time + account.late + account.untimed
    query.stop()
    """
    session = SparkSession.active()
    found = {} if is_connect(session) else controls_of(session).accounts(str(query.runId))
    found = found or accounts_in_plan(query)
    return Accounts({stream_of(name): Statement.of(account) for name, account in found.items()})


def accounts_in_plan(query: StreamingQuery) -> dict[str, Account]:
    """Return the accounts of the controls that the query's own plan hosts, from Spark's progress."""
    last: dict[str, Account] = {}
    for progress in query.recentProgress:
        for metric, row in (progress["observedMetrics"] or {}).items():
            account = _values(row).get("account") if metric.startswith(ACCOUNT) else None
            if account is not None:
                last[metric] = Account(**json.loads(account))
    found: dict[str, Account] = {}
    alike: Counter[str] = Counter()
    for metric in sorted(last):
        control = _numbered(metric, ACCOUNT)
        alike[control] += 1
        found[number_control(control, alike[control])] = last[metric]
    return found


def _read(observed: Mapping[str, Any]) -> dict[str, int]:
    """Return the number of rows of each stream without a controller. A stream that is read twice counts once."""
    found: dict[str, int] = {}
    for metric, row in observed.items():
        if metric.startswith(READ):
            name = _numbered(metric, READ)
            found[name] = max(found.get(name, 0), int(_values(row)["rows"] or 0))
    return found


def _refused(observed: Mapping[str, Any]) -> dict[str, int]:
    """Return the number of rows that each stream with CHANGELOG BY has refused."""
    rows = [_values(row) for metric, row in observed.items() if metric.startswith(OUTPUTS)]
    return count_refused({output: count for row in rows for output, count in row.items()})


def _values(row: Any) -> dict[str, Any]:
    """Return the values of a metric by name. Spark Connect returns the values and a schema with their names."""
    found = row.asDict() if hasattr(row, "asDict") else dict(row)
    if set(found) != {"values", "schema"}:
        return found
    return dict(zip((each["name"] for each in found["schema"]["fields"]), found["values"], strict=True))


def _rows_out(output: Mapping[str, Any], event: Mapping[str, Any]) -> int:
    """Return the number of result rows: as the pipeline counted them, else as the sink did, else 0."""
    sink = (event.get("sink") or {}).get("numOutputRows") or 0
    return int(output["rows"] or 0) if "rows" in output else max(0, sink)


def _ended(event: Mapping[str, Any]) -> int:
    """Return the time at which the batch ended, in ms since 1970: its start plus its duration."""
    began = event.get("timestamp")
    if began is None:
        return 0
    moment = datetime.fromisoformat(str(began)).timestamp()
    return round(moment * 1_000) + int(event["durationMs"]["triggerExecution"])


def _parts(durations: Mapping[str, int]) -> dict[str, int]:
    """Return the duration of each part of a batch in ms; `other` is the rest of the batch."""
    parts = {name: int(time) for name, time in durations.items() if name != "triggerExecution"}
    return parts | {"other": max(0, int(durations["triggerExecution"]) - sum(parts.values()))}


def _numbered(metric: str, kind: str) -> str:
    """Return the name of the stream or control of a metric: the metric's name without its kind and number."""
    return metric.removeprefix(kind).lstrip(".").partition(".")[2]
