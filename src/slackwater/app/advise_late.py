"""Describe the late rows of a recorded stream: who sent them, when they came and how long they took."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from slackwater.algebra.lengths import MICROSECONDS
from slackwater.disorder.replay.replaying import Batches, Ints, late_rows

MOST_SENDERS = 3
"""The number of senders that are named, those with the most late rows."""
TENTHS = 10
"""The parts of a recording, by arrival, of which the one with the most late rows is named."""


def describe_late(batches: Batches, punctuation: Ints, senders: Sequence[str], under: str) -> str:
    """Return what the late rows have in common `under` some watermark, or an empty text if no row is late."""
    late = late_rows(batches, punctuation)
    rows = int(late.sum())
    if not rows:
        return ""
    delay = (batches.arrival - batches.event) / MICROSECONDS["second"]
    parts = [f"{rows:,} rows are late with {under}"]
    if batches.source is not None:
        parts.append(_sent_by(batches.source[late], senders))
    parts.append(_tenth(batches.arrival, late))
    parts.append(f"half of them took {np.median(delay[late]):.3g} s or more, half of all rows {np.median(delay):.3g} s")
    return "; ".join(parts)


def _sent_by(codes: Ints, senders: Sequence[str]) -> str:
    found, counts = np.unique(codes, return_counts=True)
    most = np.argsort(-counts, kind="stable")[:MOST_SENDERS]
    names = [name_of(int(found[each]), senders) for each in most]
    called = [f"sender {name}" if name.isdigit() else name for name in names]
    named = ", ".join(f"{counts[each]:,} by {name}" for each, name in zip(most, called, strict=True))
    others = int(counts.sum() - counts[most].sum())
    return f"sent {named}" + (f", {others:,} by others" if others else "")


def _tenth(arrival: Ints, late: np.ndarray) -> str:
    """Return how many late rows came in the worst tenth of the recording, by the clock, and which tenth that is."""
    length = max(1, int(arrival[-1] - arrival[0]) + 1)
    counts = np.bincount((arrival[late] - arrival[0]) * TENTHS // length, minlength=TENTHS)
    worst = int(np.argmax(counts))
    return f"{counts[worst]:,} came in one tenth of the recording, from {worst * 100 // TENTHS}% on"


def name_of(code: int, senders: Sequence[str]) -> str:
    """Return the name of a sender by its number; a missing sender is -1.

    >>> name_of(1, ["north", "south"]), name_of(-1, ["north", "south"])
    ('south', 'no sender')
    """
    return senders[code] if 0 <= code < len(senders) else "no sender"


def with_names(said: str, senders: Sequence[str]) -> str:
    """Return a sentence of the controller with the names of senders in the place of their numbers.

    >>> with_names("waiting for sender 1, silent for 7.65 s", ["north", "south"])
    'waiting for sender south, silent for 7.65 s'
    """
    return re.sub(r"(?<=sender )-?\d+", lambda code: name_of(int(code[0]), senders), said)
