"""Seeded synthetic streams: those of the papers, and others on which the drop ratio is tested.

Every stream is made the same way: rows are generated at event times, each is delayed, and the rows are sorted by
arrival. The recording stops when the last row is generated, as real traces are cut; `cut=False` waits for late rows
instead. Times are seconds in the arguments, ticks in the stream.

>>> stream = normal(1_000, mu=2.0, sigma=0.5, rate=100.0, seed=1)
>>> len(stream) < 1_000, bool((np.diff(stream.arrival) >= 0).all())
(True, True)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

EPOCH = 1_700_000_000  # seconds since 1970: streams start at a plausible date
YEAR = 365 * 86_400.0  # seconds


@dataclass(frozen=True, slots=True)
class DisorderedStream:
    """Rows in arrival order: event and arrival time in ticks, and the sender of each row, if known."""

    name: str
    event: Ints
    arrival: Ints
    source: Ints | None = None
    ticks: int = 1_000

    def __len__(self) -> int:
        return len(self.event)


def record(
    name: str,
    event: Floats,
    delay: Floats,
    *,
    source: Ints | None = None,
    ticks: int = 1_000,
    cut: bool = True,
) -> DisorderedStream:
    """Return generated rows as a stream: sort them by arrival, and stop recording at the last generated row."""
    arrival = event + delay
    order = np.argsort(arrival, kind="stable")
    if cut:
        order = order[arrival[order] <= event.max()]
    start = EPOCH * ticks
    return DisorderedStream(
        name,
        start + np.floor(event[order] * ticks).astype(np.int64),
        start + np.floor(arrival[order] * ticks).astype(np.int64),
        None if source is None else source[order],
        ticks,
    )


def poisson(rng: np.random.Generator, rows: int, rate: float) -> Floats:
    """Return event times of random generation: exponential gaps (ADC-J equation 1)."""
    return np.cumsum(rng.exponential(1 / rate, rows))


def normal(
    rows: int,
    *,
    mu: float = 3.0,
    sigma: float = 1.0,
    rate: float = 10_000.0,
    seed: int = 0,
    ticks: int = 1_000,
    cut: bool = True,
) -> DisorderedStream:
    """Return the papers' constant stream: normal delays (ADC-J equation 2), none below zero."""
    rng = np.random.default_rng(seed)
    event = poisson(rng, rows, rate)
    delay = np.maximum(rng.normal(mu, sigma, rows), 0.0)
    return record(f"normal({mu:g}, {sigma:g})", event, delay, ticks=ticks, cut=cut)


def changing(
    rows: int,
    *,
    every: float = 3.0,
    mu: float = 6.0,
    sigma: float = 5.0,
    rate: float = 10_000.0,
    seed: int = 0,
    ticks: int = 1_000,
    cut: bool = True,
) -> DisorderedStream:
    """Return the papers' changing stream: a new mean in [0, mu] and deviation in [0, sigma] `every` few seconds."""
    rng = np.random.default_rng(seed)
    event = poisson(rng, rows, rate)
    phase = (event // every).astype(np.int64)
    means = rng.uniform(0.0, mu, phase[-1] + 1)
    deviations = rng.uniform(0.0, sigma, phase[-1] + 1)
    delay = np.maximum(rng.normal(means[phase], deviations[phase]), 0.0)
    return record(f"changing({every:g} s)", event, delay, ticks=ticks, cut=cut)


def pareto(
    rows: int,
    *,
    shape: float = 1.5,
    least: float = 0.1,
    rate: float = 1_000.0,
    seed: int = 0,
    ticks: int = 1_000,
    cut: bool = True,
) -> DisorderedStream:
    """Return a stream with a heavy tail: no variance at shape 1.5, and the largest delay grows with the stream."""
    rng = np.random.default_rng(seed)
    delay = least * (1.0 + rng.pareto(shape, rows))
    return record(f"pareto({shape:g})", poisson(rng, rows, rate), delay, ticks=ticks, cut=cut)


def lognormal_drift(
    rows: int,
    *,
    median: float = 0.5,
    spread: float = 0.8,
    swing: float = 1.5,
    cycles: float = 3.0,
    rate: float = 1_000.0,
    seed: int = 0,
    ticks: int = 1_000,
    cut: bool = True,
) -> DisorderedStream:
    """Return log-normal delays whose mean drifts up and down by exp(swing) over the stream, `cycles` times."""
    rng = np.random.default_rng(seed)
    event = poisson(rng, rows, rate)
    drift = swing * np.sin(2 * np.pi * cycles * event / event[-1])
    delay = median * np.exp(drift + spread * rng.standard_normal(rows))
    return record("log-normal drift", event, delay, ticks=ticks, cut=cut)


def two_modes(
    rows: int,
    *,
    share: float = 0.015,
    times: float = 60.0,
    usual: float = 0.5,
    rate: float = 1_000.0,
    seed: int = 0,
    ticks: int = 1_000,
    cut: bool = True,
) -> DisorderedStream:
    """Return a stream in which most rows are quick and a share (another network, a retry) is many times slower."""
    rng = np.random.default_rng(seed)
    slow = rng.random(rows) < share
    delay = usual * rng.gamma(4.0, 0.25, rows) * np.where(slow, times, 1.0)
    return record("two modes", poisson(rng, rows, rate), delay, ticks=ticks, cut=cut)


def bursts(
    rows: int,
    *,
    burst: float = 2.0,
    every: float = 20.0,
    times: float = 20.0,
    usual: float = 0.2,
    rate: float = 500.0,
    seed: int = 0,
    ticks: int = 1_000,
    cut: bool = True,
) -> DisorderedStream:
    """Return a stream whose rate sometimes rises `times`-fold for `burst` seconds.

    The network queues, so delays rise too.
    """
    rng = np.random.default_rng(seed)
    share = burst / every
    steady = rate / (1.0 + share * (times - 1.0))
    length = rows / rate
    starts = np.cumsum(rng.exponential(every, int(length / every * 2) + 8))
    starts = starts[starts < length]
    extra = rng.poisson(steady * (times - 1.0) * burst, len(starts))
    within = np.repeat(starts, extra) + rng.uniform(0.0, burst, int(extra.sum()))
    event = np.sort(np.concatenate([rng.uniform(0.0, length, rng.poisson(steady * length)), within]))
    since = event - np.append(starts, np.inf)[np.maximum(np.searchsorted(starts, event) - 1, 0)]
    queued = np.where((since >= 0) & (since < burst), since, 0.0) * 2.0
    delay = queued + rng.exponential(usual, len(event))
    return record("bursts", event, delay, ticks=ticks, cut=cut)


def outage(
    rows: int,
    *,
    sources: int = 8,
    length: float = 60.0,
    starts: float = 0.4,
    usual: float = 0.3,
    rate: float = 200.0,
    named: bool = True,
    seed: int = 0,
    ticks: int = 1_000,
    cut: bool = True,
) -> DisorderedStream:
    """Return a stream in which one source loses its link for `length` seconds, then delivers its backlog in order."""
    rng = np.random.default_rng(seed)
    event = poisson(rng, rows, rate)
    source = rng.integers(0, sources, rows)
    arrival = event + usual * rng.lognormal(0.0, 0.5, rows)
    down = starts * event[-1]
    cut_off = (source == 0) & (event >= down) & (event < down + length)
    # The backlog drains ten times as fast as it was filled, oldest row first.
    arrival[cut_off] = np.maximum(arrival[cut_off], down + length + (event[cut_off] - down) / 10)
    name = "outage" if named else "outage (unnamed)"
    return record(name, event, arrival - event, source=source if named else None, ticks=ticks, cut=cut)


def far_future(
    stream: DisorderedStream, *, one_in: int = 10_000, ahead: float = YEAR, seed: int = 0
) -> DisorderedStream:
    """Stamp one row in `one_in` far ahead, as a broken clock or a wrong unit does."""
    rng = np.random.default_rng(seed)
    broken = rng.random(len(stream)) < 1 / one_in
    event = np.where(broken, stream.event + int(ahead * stream.ticks), stream.event)
    return replace(stream, name=f"{stream.name}, 1 in {one_in:,} a year ahead", event=event)
