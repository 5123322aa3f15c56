"""Disorder control, given the punctuations: what enters the record store, the sequence, and what is late.

Language.md, "Batches, late and lost". In batch N, with P the punctuation in force: (1) a row with t < P is late;
(2) rows enter the record store and every window that was not emitted in an earlier batch; (3) rows with t < P are
released in sequence order. A row whose place was released in an earlier batch is not in the sequence.
"""

from __future__ import annotations

from dataclasses import dataclass

from slackwater.algebra.nodes import Scan
from slackwater.semantics.feeds import Clock, Feed
from slackwater.semantics.rows import Marks, Rejected, Row


@dataclass(frozen=True, slots=True)
class Store:
    """Everything that arrived on a scan: rows in sequence order, each with the batch of its arrival."""

    rows: tuple[Row, ...]
    rejected: tuple[Rejected, ...]


def record_store(scan: Scan, feed: Feed) -> Store:
    """The rows of a feed; those without an event time can have no place and are set aside."""
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
    return Store(tuple(sorted(rows, key=lambda row: row.place)), tuple(rejected))


def sequence(store: Store, clock: Clock) -> list[Row]:
    """The rows that are released, in order, each with the batch of its release and its number.

    A row that comes in batch N has its place if t is not below the punctuation of batch N - 1, by which rows were
    released then. Having its place, it is released in the first batch whose punctuation is beyond t, whenever it
    came: so the order of release is the order of the sequence.
    """
    placed = [row for row in store.rows if row.time >= clock.at(row.batch - 1)]
    released = [(row, clock.first_beyond(row.time)) for row in placed]
    return [
        Row(row.values, row.time, batch, row.arrival, row.position, Marks(row_time=row.time, row_number=number))
        for number, (row, batch) in enumerate(released, start=1)
        if batch is not None
    ]
