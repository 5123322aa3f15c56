"""Disorder control with given punctuations: the record store, the sequence, and the clocks.

In batch N, with P the punctuation in force: (1) a row with t < P is late; (2) rows enter the record store and every
window that was not emitted in an earlier batch; (3) rows with t < P are released in sequence order. A row whose place
was released in an earlier batch is not in the sequence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from slackwater.algebra.lengths import TICK
from slackwater.algebra.nodes import Disorder, Plan, Policy, Scan, emits_changes, walk
from slackwater.algebra.policies import effective
from slackwater.semantics.feeds import BEGINNING, END_OF_TIME, Clock, Feed
from slackwater.semantics.rows import Marks, Rejected, Row


@dataclass(frozen=True, slots=True)
class ArrivalStore:
    """All rows that arrived on a scan, in sequence order, each with the batch of its arrival."""

    rows: tuple[Row, ...]
    rejected: tuple[Rejected, ...]


def record_store(scan: Scan, feed: Feed) -> ArrivalStore:
    """Return the rows of a feed. Rows without an event time have no place in the sequence and are set aside."""
    names = [each.name for each in scan.fields]
    rows: list[Row] = []
    rejected: list[Rejected] = []
    arrived = [(number, given) for number, batch in enumerate(feed.batches) for given in batch.rows]
    for position, (number, given) in enumerate(arrived):
        values = tuple(given.get(name) for name in names)
        time = given.get(scan.event_time)
        if time is None:
            rejected.append(Rejected(scan.stream, scan.alias, dict(zip(names, values, strict=True)), number))
            continue
        arrival = given.get(scan.arrival) if scan.arrival else None
        rows.append(Row(values, time, number, arrival, position, Marks(row_time=time)))
    return ArrivalStore(tuple(sorted(rows, key=lambda row: row.place)), tuple(rejected))


def sequence(store: ArrivalStore, clock: Clock) -> list[Row]:
    """Return the released rows in order, each with the batch of its release and its number.

    A row that arrives in batch N has a place if t is not below the punctuation of batch N - 1, by which rows were
    released then. It is released in the first batch whose punctuation is beyond t, whenever it arrived: so the order of
    release is the order of the sequence. A flush under EMIT CHANGES releases the rows beyond its punctuation as well,
    at the last tick before it.
    """
    placed = [row for row in store.rows if row.time >= clock.at(row.batch - 1)]
    if clock.everything:
        last = clock.latest - TICK
        placed = sorted((replace(row, time=min(row.time, last)) for row in placed), key=lambda row: row.place)
    released = [(row, clock.first_beyond(row.time)) for row in placed]
    return [
        Row(row.values, row.time, batch, row.arrival, row.position, Marks(row_time=row.time, row_number=number))
        for number, (row, batch) in enumerate(released, start=1)
        if batch is not None
    ]


def clocks_of(plan: Plan, feeds: Mapping[str, Feed], flush: bool) -> dict[str, Clock]:
    """Return the clock of each stream of a query, all over the batches of the longest feed."""
    used = {node.stream: feeds.get(node.stream, Feed()) for node in walk(plan) if isinstance(node, Scan)}
    batches = max(len(feed.batches) for feed in used.values())
    clocks = {name: Clock.of([batch.punctuation for batch in feed.batches], batches) for name, feed in used.items()}
    if not flush:
        return clocks
    end, furthest = end_of(plan, used)
    return {name: clock.add_flush(end, furthest) for name, clock in clocks.items()}


def end_of(plan: Plan, feeds: Mapping[str, Feed]) -> tuple[int, int]:
    """Return the punctuation of a flush, and the newest event time of all rows.

    The punctuation is the end of time, so that every window is emitted. Under EMIT CHANGES it is one tick after the
    newest event time of any stream that is not suspect, so that tuples that live then stay alive. If all rows are
    suspect, it is one tick after the latest arrival.
    """
    rows = [each for scan, policy in scans_with_policies(plan) for each in stamps(scan, policy, feeds[scan.stream])]
    furthest = max((time for time, _, _ in rows), default=BEGINNING)
    if not emits_changes(plan):
        return END_OF_TIME, furthest
    honest = [time for time, _, suspect in rows if not suspect] or [arrival for _, arrival, _ in rows]
    return (max(honest) + TICK if honest else BEGINNING), furthest


def scans_with_policies(plan: Plan) -> Iterator[tuple[Scan, Policy]]:
    """Return the scans of a plan, each with its disorder policy."""
    policies = {
        id(scan): node.policy
        for node in walk(plan)
        if isinstance(node, Disorder)
        for scan in walk(node)
        if isinstance(scan, Scan)
    }
    return ((node, policies.get(id(node), Policy())) for node in walk(plan) if isinstance(node, Scan))


def stamps(scan: Scan, policy: Policy, feed: Feed) -> list[tuple[int, int, bool]]:
    """Return event time and arrival of each row, and whether it is suspect: stamped more than SKEW after its arrival.

    A row without an arrival is not suspect: it counts as arrived at its event time.
    """
    skew = effective(policy).skew or 0
    rows = [row for batch in feed.batches for row in batch.rows]
    clocks = [(row.get(scan.event_time), row.get(scan.arrival) if scan.arrival else None) for row in rows]
    known = [(time, time if arrival is None else arrival) for time, arrival in clocks if time is not None]
    return [(time, arrival, time - arrival > skew) for time, arrival in known]
