"""Streams of kinds drawn at random: how rows are sent, how late they are, how that changes, how they are delivered."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from slackwater.testing.disordered import DisorderedStream, poisson, record

Floats = NDArray[np.float64]
Rng = np.random.Generator

SENT: dict[str, Callable[[Rng, int, float], Floats]] = {
    "poisson": poisson,
    "regular": lambda rng, rows, rate: np.arange(rows) / rate + rng.uniform(0, 0.01 / rate, rows),
    "rhythm": lambda rng, rows, rate: np.cumsum(
        rng.exponential(1 / rate, rows) / (1.2 + np.sin(np.linspace(0, rng.uniform(4, 40), rows)))
    ),
    "rate steps": lambda rng, rows, rate: np.cumsum(
        rng.exponential(1 / rate, rows) * rng.lognormal(0, 0.8, 9)[np.arange(rows) * 9 // rows]
    ),
    "bursts": lambda rng, rows, rate: np.cumsum(
        rng.exponential(1 / rate, rows) * np.where(np.arange(rows) // rng.integers(100, 3_000) % 3 == 0, 0.1, 1.5)
    ),
}

LATE: dict[str, Callable[[Rng, int], Floats]] = {
    "exponential": lambda rng, rows: rng.exponential(1, rows),
    "log-normal": lambda rng, rows: rng.lognormal(0, rng.uniform(0.3, 1.2), rows),
    "normal": lambda rng, rows: np.maximum(rng.normal(3, rng.uniform(0.2, 3), rows), 0),
    "gamma": lambda rng, rows: rng.gamma(rng.uniform(0.5, 5), 1, rows),
    "pareto": lambda rng, rows: 0.3 * (1 + rng.pareto(rng.uniform(1.3, 4), rows)),
    "weibull": lambda rng, rows: rng.weibull(rng.uniform(0.5, 2), rows),
    "uniform": lambda rng, rows: rng.uniform(0, 3, rows),
    "two modes": lambda rng, rows: (
        rng.gamma(4, 0.25, rows) * np.where(rng.random(rows) < rng.uniform(0.002, 0.1), rng.uniform(4, 40), 1)
    ),
}

CHANGES: dict[str, Callable[[Rng, Floats], Floats]] = {
    "constant": lambda rng, event: np.ones(len(event)),
    "step": lambda rng, event: np.where(event > rng.uniform(0.2, 0.8) * event[-1], rng.uniform(0.2, 6), 1.0),
    "trend": lambda rng, event: np.exp(rng.uniform(-2, 2) * event / event[-1]),
    "wave": lambda rng, event: np.exp(rng.uniform(0.3, 1.5) * np.sin(rng.uniform(6, 60) * event / event[-1])),
    "regimes": lambda rng, event: rng.lognormal(0, 0.8, 200)[(event / event[-1] * rng.integers(5, 199)).astype(int)],
    "walk": lambda rng, event: np.exp(
        np.interp(event / event[-1], np.linspace(0, 1, 200), np.cumsum(rng.normal(0, 0.15, 200)))
    ),
}


def drawn(seed: int) -> DisorderedStream:
    """10,000 to 60,000 rows; now and then of whole seconds, or delivered in lumps."""
    rng = np.random.default_rng(seed)
    rows, rate, scale = int(rng.integers(10_000, 60_000)), float(rng.uniform(20, 2_000)), float(rng.uniform(0.1, 5))
    kinds = [str(rng.choice(list(each))) for each in (SENT, LATE, CHANGES)]
    event = SENT[kinds[0]](rng, rows, rate)
    delay = scale * LATE[kinds[1]](rng, rows) * CHANGES[kinds[2]](rng, event)
    if rng.random() < 0.15:
        event, kinds = np.floor(event), [*kinds, "whole seconds"]
    if rng.random() < 0.15:
        lump = rng.uniform(0.5, 5) * scale
        delay, kinds = np.ceil((event + delay) / lump) * lump - event, [*kinds, "in lumps"]
    return record(f"{seed}: {', '.join(kinds)}", event, delay)
