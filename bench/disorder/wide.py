"""The wide set: streams of many kinds, drawn at random from a seed, each with its batches and its drop ratio.

Two cases in five come from `drawn`: a way of sending, of delaying and of changing. The others are the kinds that
engineers meet: phones that go offline, skewed clocks, queues, lumps, retries, sparse streams, whole seconds, replays,
failovers, machines that upload in turn, outages, readers that start with a backlog.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bench.disorder.drawn import CHANGES, LATE, SENT
from slackwater.disorder.replay.replaying import Batches, batches_by_rows, batches_by_time
from slackwater.testing.disordered import DisorderedStream, poisson, record

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rng = np.random.Generator
Made = tuple[Floats, Floats, Ints | None]
"""Event times and delays in seconds, and senders where a stream has some."""

RATIOS = (0.05, 0.01, 0.001)
FEWEST_ROWS, MOST_ROWS = 3_000, 300_000
LASTS = 20  # times its longer delays: so long is a recording at least
FEWEST_BATCHES, THIN_BATCHES, MOST_BATCHES = 30, 200, 1_000


@dataclass(frozen=True, slots=True)
class Case:
    """One run: a stream, how it is cut into batches, the drop ratio, and whether senders are named."""

    stream: DisorderedStream
    batches: Batches
    dratio: float


def mixed(rng: Rng, rows: int) -> Made:
    """A way of sending, of delaying and of changing; now and then in whole seconds or in lumps."""
    rate, scale = float(np.exp(rng.uniform(np.log(5), np.log(3_000)))), float(rng.uniform(0.1, 5))
    sent, late, changes = (each[str(rng.choice(list(each)))] for each in (SENT, LATE, CHANGES))
    event = sent(rng, rows, rate)
    delay = late(rng, rows) * changes(rng, event)
    scale = min(scale, event[-1] / LASTS / float(np.quantile(delay, 0.99)))
    delay *= scale
    if rng.random() < 0.1:
        event = np.floor(event)
    if rng.random() < 0.1:
        delay = _in_lumps(event + delay, rng.uniform(0.5, 5) * scale) - event
    return event, delay, None


def phones(rng: Rng, rows: int) -> Made:
    """Senders that each go offline for minutes now and then, and upload what they kept when they are back."""
    senders = int(rng.integers(10, 120))
    event = poisson(rng, rows, rows / rng.uniform(1_800, 14_400))
    source = rng.integers(0, senders, rows)
    arrival = event + rng.lognormal(-1.5, 0.7, rows)
    share, length = rng.uniform(0.002, 0.05), rng.uniform(20, 240)
    for sender in range(senders):
        pauses = rng.poisson(event[-1] * share / length)
        for start in rng.uniform(0, event[-1], pauses):
            end = start + rng.exponential(length)
            kept = (source == sender) & (event >= start) & (event < end)
            arrival[kept] = np.maximum(arrival[kept], end + rng.uniform(0, 2, int(kept.sum())))
    return event, arrival - event, source


def skewed(rng: Rng, rows: int) -> Made:
    """Senders whose clocks are seconds behind or ahead of ours, each by an amount of its own."""
    senders = int(rng.integers(3, 40))
    source = rng.integers(0, senders, rows)
    event = poisson(rng, rows, rng.uniform(20, 1_000))
    ahead = rng.normal(0, rng.uniform(0.2, 10), senders)[source]
    delay = rng.uniform(0.1, 1) * rng.lognormal(0, 0.7, rows)
    return event + ahead, delay - ahead, source


def queue(rng: Rng, rows: int) -> Made:
    """One server, first come first served, loaded at 70 to 97%: delays rise and fall together."""
    rate, load = rng.uniform(20, 1_000), rng.uniform(0.7, 0.97)
    event = poisson(rng, rows, rate)
    served = np.cumsum(rng.exponential(load / rate, rows))
    done = served + np.maximum.accumulate(event - np.concatenate([[0.0], served[:-1]]))
    return event, done - event + rng.exponential(rng.uniform(0.5, 5) / rate, rows), None


def lumps(rng: Rng, rows: int) -> Made:
    """Rows are delivered together every few seconds, a delivery is late now and then."""
    event = poisson(rng, rows, rng.uniform(20, 1_000))
    every = min(rng.uniform(1, 20), event[-1] / LASTS / 5)
    number = np.ceil(event / every).astype(np.int64)
    late = np.where(rng.random(number[-1] + 1) < rng.uniform(0, 0.1), rng.exponential(3 * every, number[-1] + 1), 0)
    return event, number * every + late[number] - event + rng.exponential(0.2, rows), None


def retries(rng: Rng, rows: int) -> Made:
    """A share of the rows is sent again after a pause that doubles each time."""
    again = rng.geometric(1 - rng.uniform(0.002, 0.1), rows) - 1
    pause = rng.uniform(0.5, 10)
    delay = pause * (2.0**again - 1) + rng.exponential(rng.uniform(0.05, 0.5), rows)
    return poisson(rng, rows, rng.uniform(20, 2_000)), delay, None


def sparse(rng: Rng, rows: int) -> Made:
    """A few rows a minute, with a heavy tail."""
    rows = min(rows, 20_000)
    event = poisson(rng, rows, float(np.exp(rng.uniform(np.log(0.02), np.log(2)))))
    return event, rng.uniform(0.5, 5) * (1 + rng.pareto(rng.uniform(1.5, 3), rows)), None


def seconds(rng: Rng, rows: int) -> Made:
    """Timestamps of whole seconds; now and then arrivals of whole seconds, too."""
    event = poisson(rng, rows, rng.uniform(5, 500))
    arrival = event + rng.gamma(rng.uniform(1, 4), rng.uniform(0.3, 3), rows)
    if rng.random() < 0.5:
        arrival = np.floor(arrival)
    return np.floor(event), np.maximum(arrival - np.floor(event), 0), None


def replays(rng: Rng, rows: int) -> Made:
    """A sender sends old stretches once more: rows that are minutes old come again."""
    event = poisson(rng, rows, rng.uniform(50, 500))
    delay = rng.exponential(rng.uniform(0.1, 1), rows)
    source = rng.integers(0, 6, rows)
    count, length = int(rng.integers(2, 12)), rng.uniform(0.0002, 0.004) * event[-1]
    again = [event[(event >= start) & (event < start + length)] for start in rng.uniform(0, 0.9 * event[-1], count)]
    back = [rng.uniform(30, 300) + 0.1 * (each - each.min(initial=np.inf)) for each in again]
    repeated = np.concatenate(again)
    return (
        np.append(event, repeated),
        np.append(delay, np.concatenate(back)),
        np.append(source, np.zeros(len(repeated), np.int64)),
    )


def failover(rng: Rng, rows: int) -> Made:
    """One of several collectors dies now and then; another one delivers its rows after a while."""
    event = poisson(rng, rows, rng.uniform(50, 1_000))
    collectors = int(rng.integers(2, 9))
    source = rng.integers(0, collectors, rows)
    arrival = event + rng.lognormal(-1, 0.6, rows)
    for start in rng.uniform(0, event[-1], int(rng.integers(1, 9))):
        end = start + min(rng.uniform(2, 40), event[-1] / LASTS)
        lost = (source == rng.integers(0, collectors)) & (event >= start) & (event < end)
        arrival[lost] = np.maximum(arrival[lost], end + rng.exponential(1.0, int(lost.sum())))
    return event, arrival - event, source


def uploads(rng: Rng, rows: int) -> Made:
    """Machines that upload what they gathered every so many seconds, each at its own phase."""
    machines = 8 if rng.random() < 0.5 else int(rng.integers(4, 20))
    event = poisson(rng, rows, rng.uniform(20, 500))
    every = min(rng.uniform(10, 120), event[-1] / LASTS)
    source = rng.integers(0, machines, rows)
    phase = rng.uniform(0, every, machines)[source]
    upload = np.ceil((event - phase) / every) * every + phase
    return event, upload - event + rng.exponential(0.5, rows), source


def outage(rng: Rng, rows: int) -> Made:
    """One of several senders loses its link for a while, then delivers its backlog in order."""
    senders = int(rng.integers(4, 40))
    event = poisson(rng, rows, rng.uniform(20, 500))
    length = min(rng.uniform(10, 120), event[-1] / LASTS)
    source = rng.integers(0, senders, rows)
    arrival = event + 0.3 * rng.lognormal(0, 0.5, rows)
    down = rng.uniform(0.2, 0.8) * event[-1]
    cut_off = (source == 0) & (event >= down) & (event < down + length)
    arrival[cut_off] = np.maximum(arrival[cut_off], down + length + (event[cut_off] - down) / 10)
    return event, arrival - event, source


def backlog(rng: Rng, rows: int) -> Made:
    """A reader that starts minutes behind and reads several times as fast as rows are sent until it has caught up."""
    event = poisson(rng, rows, rng.uniform(50, 1_000))
    behind, speed = rng.uniform(0.02, 0.3) * event[-1], rng.uniform(2, 20)
    ready = event + rng.exponential(rng.uniform(0.1, 2), rows)
    read = behind + np.argsort(np.argsort(ready)) * (event[-1] / rows / speed)
    return event, np.maximum(ready, read) - event, None


KINDS: tuple[Callable[[Rng, int], Made], ...] = (
    mixed, phones, mixed, skewed, queue, mixed, lumps, retries, mixed, sparse,
    seconds, mixed, replays, failover, mixed, uploads, outage, mixed, backlog, mixed,
)  # fmt: skip


def draw(seed: int) -> DisorderedStream:
    """The stream of this seed: seven in ten recordings end with the last event, unless many rows are on their way."""
    rng = np.random.default_rng([26, seed])
    kind = KINDS[seed % len(KINDS)]
    rows = int(np.exp(rng.uniform(np.log(FEWEST_ROWS), np.log(MOST_ROWS))))
    event, delay, source = kind(rng, rows)
    ticks = 1_000_000 if rng.random() < 0.1 else 1_000
    ended = rng.random() < 0.7 and np.mean(event + delay <= event.max()) > 0.8
    return record(f"{seed} {kind.__name__}", event, delay, source=source, ticks=ticks, cut=bool(ended))


def cut(stream: DisorderedStream, seed: int, most: int = MOST_BATCHES) -> Batches:
    """Batches of so many rows or, as often, of so long a time: at least 30 of them."""
    rng = np.random.default_rng([27, seed])
    rows = max(float(np.exp(rng.uniform(np.log(30), np.log(2_000)))), len(stream) / most)
    rows = min(rows, len(stream) / FEWEST_BATCHES)
    if rng.random() < 0.5:
        return batches_by_rows(stream.event, stream.arrival, int(rows), stream.source)
    length = (stream.arrival[-1] - stream.arrival[0]) * rows / len(stream)
    return batches_by_time(stream.event, stream.arrival, max(1, int(length)), stream.source)


def cases(seeds: range, *, thin: bool = False) -> Iterator[Case]:
    """Every stream at every ratio, with and without the names of its senders; if thin, in one of these ways each.

    Thin cases have fewer batches, so that they run quickly.
    """
    for seed in seeds:
        stream = draw(seed)
        batches = cut(stream, seed, THIN_BATCHES if thin else MOST_BATCHES)
        plain = replace(batches, source=None)
        ways = [Case(stream, each, dratio) for dratio in RATIOS for each in (plain, batches)]
        ways = ways if stream.source is not None else ways[::2]
        yield from [ways[seed * 7 // len(KINDS) % len(ways)]] if thin else ways


def _in_lumps(time: Floats, every: float) -> Floats:
    lumped: Floats = np.ceil(time / every) * every
    return lumped
