"""Offsets of topics: how far each partition was read, and where a batch ends. Needs no client."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Offsets = dict[tuple[str, int], int]
"""The next message of each partition of each topic."""
EARLIEST, LATEST = -2, -1
"""The numbers that stand for the beginning and the end of a partition in written offsets."""


def to_document(offsets: Offsets) -> dict[str, dict[str, int]]:
    """Return offsets as Spark's own Kafka source writes them.

    >>> to_document({("tides", 1): 7, ("tides", 0): 5})
    {'tides': {'0': 5, '1': 7}}
    """
    found: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in sorted(offsets.items()):
        found.setdefault(topic, {})[str(partition)] = offset
    return found


def from_document(document: Mapping[str, Mapping[str, int]]) -> Offsets:
    """Return the offsets of a document that `to_document` made."""
    return {(topic, int(part)): int(offset) for topic, parts in document.items() for part, offset in parts.items()}


def parse_starting(text: str) -> str | Offsets:
    """Return `earliest`, `latest`, or the offsets in a JSON text; raise ValueError for anything else.

    >>> parse_starting("Earliest"), parse_starting('{"tides": {"0": 5}}')
    ('earliest', {('tides', 0): 5})
    """
    if text.strip().lower() in ("earliest", "latest"):
        return text.strip().lower()
    found: Any = json.loads(text)
    if not isinstance(found, dict) or not all(isinstance(each, dict) for each in found.values()):
        raise ValueError(text)
    return from_document(found)


def start_at(starting: str | Offsets, low: Offsets, high: Offsets) -> Offsets:
    """Return the offsets at which a query begins. A partition without a given offset begins at its end, as in Spark.

    >>> start_at({("t", 0): -2, ("t", 1): 9}, {("t", 0): 3, ("t", 1): 0}, {("t", 0): 5, ("t", 1): 20})
    {('t', 0): 3, ('t', 1): 9}
    """
    if isinstance(starting, str):
        return dict(low if starting == "earliest" else high)
    named = {EARLIEST: low, LATEST: high}
    wanted = {part: starting.get(part, LATEST) for part in high}
    return {part: named[offset][part] if offset in named else offset for part, offset in wanted.items()}


def cap(start: Offsets, end: Offsets, most: int | None) -> Offsets:
    """Return the end of a batch of at most `most` messages, taken from each partition in proportion to its backlog.

    A partition that is new to `start` begins at 0. Every partition with a backlog moves on, so that none starves.

    >>> cap({("t", 0): 0}, {("t", 0): 90, ("t", 1): 10}, 20)
    {('t', 0): 18, ('t', 1): 2}
    >>> cap({("t", 0): 4}, {("t", 0): 3}, None)
    {('t', 0): 4}
    """
    backlog = {part: max(0, offset - start.get(part, 0)) for part, offset in end.items()}
    total = sum(backlog.values())
    if most is None or total <= most:
        return {part: start.get(part, 0) + lag for part, lag in backlog.items()}
    return {part: start.get(part, 0) + min(lag, -(-lag * most // total)) for part, lag in backlog.items()}
