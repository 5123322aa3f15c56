"""Small disordered streams from a seed: cheap enough for a thousand cases of every rule.

As in `slackwater.testing.streams`, but without a search for the smallest failure: rows arrive up to nine seconds
late, with ties, duplicates, NULLs, missing and far-future stamps; batches are cut anywhere, some empty; punctuations
are any, so that rows are late, and lost, or not.
"""

from __future__ import annotations

from random import Random
from typing import Any

from slackwater.algebra.catalog import StreamDef
from slackwater.algebra.nodes import Plan, Scan, walk
from slackwater.semantics import Batch, Feed
from slackwater.testing.catalog import CATALOG

SECOND = 1_000_000
FAR = 40
"""How many seconds ahead a stamp from the future is; no other row comes that late."""
STREAMS = [stream for stream in CATALOG.streams if stream.change_type is None]


def feeds(seed: int | str, plan: Plan) -> dict[str, Feed]:
    """A feed of every stream that a plan reads; shorter ones where it reads two, whose pairs must all be made."""
    rng = Random(seed)
    read = {each.stream for each in walk(plan) if isinstance(each, Scan)}
    sizes = (5, 5, 6, 8, 12) if sum(isinstance(each, Scan) for each in walk(plan)) == 1 else (3, 4, 5, 8)
    return {stream.name: feed(rng, stream, rng.choice(sizes)) for stream in STREAMS if stream.name in read}


def feed(rng: Random, stream: StreamDef, size: int) -> Feed:
    rows = arriving(rng, stream, size)
    cuts = sorted(rng.randint(0, len(rows)) for _ in range(rng.randint(1, 4)))
    batches, seen = [], 0
    for start, end in zip([0, *cuts], [*cuts, len(rows)], strict=True):
        times = [row[stream.event_time] for row in rows[start:end]]
        seen = max([seen, *(time for time in times if time is not None and time < FAR * SECOND)])
        slack = rng.choice((-3, 0, 0, 1, 2, 4, 8))
        batches.append(Batch(tuple(rows[start:end]), None if rng.random() < 0.2 else seen - slack * SECOND))
    return Feed(tuple(batches))


def arriving(rng: Random, stream: StreamDef, size: int) -> list[dict[str, Any]]:
    clock, made = rng.randrange(4), []
    delays = rng.choice(((0,), (0, 0, 1, 2), (0, 0, 0, 1, 3, 9)))
    for _ in range(size):
        clock += rng.choice((0, 0, 1, 1, 1, 2, 3))
        row = {field.name: value(rng, field.name) for field in stream.fields}
        row[stream.event_time] = clock * SECOND + (rng.random() < 0.3) * rng.randrange(SECOND)
        if rng.random() < 0.03:
            row[stream.event_time] = None if rng.random() < 0.5 else (clock + FAR) * SECOND
        made.append((clock + rng.choice(delays), row))
        if rng.random() < 0.06:
            made.append((clock + rng.choice(delays), dict(row)))
    made.sort(key=lambda pair: pair[0])
    for arrival, row in made:
        if stream.arrival:
            row[stream.arrival] = arrival * SECOND
    return [row for _, row in made]


def value(rng: Random, name: str) -> object:
    if rng.random() < 0.08 and name != "host":
        return None
    match name:
        case "id":
            return rng.choice((0, 0, 1, 1, 2))
        case "kind":
            return rng.choice(("a", "a", "ab", "b"))
        case "v":
            return rng.randint(-2, 7)
        case "x":
            return rng.choice((0.5, 1.25, -2.0, 3.0))
        case "host":
            return rng.choice(("h1", "h2"))
    return None
