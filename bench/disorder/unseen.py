"""Streams of kinds that `budget` was not tuned on: queues, retries, bulk, odd clocks, rhythms, tails that switch."""

from __future__ import annotations

import numpy as np

from slackwater.testing.disordered import DisorderedStream, poisson, record

ROWS = 60_000


def weibull(seed: int) -> DisorderedStream:
    """Stretched tail, in microseconds, 40 rows a second."""
    rng = np.random.default_rng(seed)
    delay = 0.8 * rng.weibull(0.6, ROWS)
    return record("weibull(0.6), us", poisson(rng, ROWS, 40.0), delay, ticks=1_000_000)


def congestion(seed: int) -> DisorderedStream:
    """Delays that swell and shrink together, as a random walk that is pulled back."""
    rng = np.random.default_rng(seed)
    event = poisson(rng, ROWS, 300.0)
    steps = rng.standard_normal(int(event[-1]) + 2)
    level = np.zeros(len(steps))
    for second in range(1, len(steps)):
        level[second] = 0.97 * level[second - 1] + 0.25 * steps[second]
    delay = 0.4 * np.exp(np.interp(event, np.arange(len(level)), level)) * rng.gamma(3.0, 1 / 3, ROWS)
    return record("congestion", event, delay)


def retries(seed: int) -> DisorderedStream:
    """One row in 40 is sent again after 5 seconds, one in 40 of these once more."""
    rng = np.random.default_rng(seed)
    again = rng.geometric(1 - 1 / 40, ROWS) - 1
    return record("retries", poisson(rng, ROWS, 500.0), 5.0 * again + rng.exponential(0.2, ROWS))


def uploads(seed: int) -> DisorderedStream:
    """Twenty meters upload every 30 seconds, each at its own phase: delays are uniform, deliveries in bulk."""
    rng = np.random.default_rng(seed)
    event = poisson(rng, ROWS, 200.0)
    meter = rng.integers(0, 20, ROWS)
    phase = rng.uniform(0, 30, 20)[meter]
    upload = np.ceil((event - phase) / 30) * 30 + phase
    return record("uploads", event, upload - event + rng.exponential(0.5, ROWS))


def queue(seed: int) -> DisorderedStream:
    """One server, first come first served, at 90% load: delays rise and fall, order is kept but for jitter."""
    rng = np.random.default_rng(seed)
    event = poisson(rng, ROWS, 100.0)
    served = np.cumsum(rng.exponential(0.009, ROWS))
    done = served + np.maximum.accumulate(event - np.concatenate([[0.0], served[:-1]]))
    return record("queue", event, done - event + rng.exponential(0.05, ROWS))


def offset(seed: int) -> DisorderedStream:
    """A clock that is an hour behind, and log-normal delays of half a second."""
    rng = np.random.default_rng(seed)
    event = poisson(rng, ROWS, 250.0)
    return record("an hour's offset", event, 3_600.0 + rng.lognormal(-0.7, 0.9, ROWS), cut=False)


def step(seed: int) -> DisorderedStream:
    """Delays become eight times longer at a third of the stream, and short again at two thirds."""
    rng = np.random.default_rng(seed)
    event = poisson(rng, ROWS, 400.0)
    slow = (event > event[-1] / 3) & (event < 2 * event[-1] / 3)
    return record("step up and down", event, rng.lognormal(-1.0, 0.6, ROWS) * np.where(slow, 8.0, 1.0))


def seconds(seed: int) -> DisorderedStream:
    """Timestamps of whole seconds."""
    rng = np.random.default_rng(seed)
    event = poisson(rng, ROWS, 30.0)
    delay = rng.gamma(2.0, 1.5, ROWS)
    return record("whole seconds", np.floor(event), np.floor(event + delay) - np.floor(event))


def lagging(seed: int) -> DisorderedStream:
    """A reader that falls behind by up to 40 seconds and catches up, twice; the order of rows suffers little."""
    rng = np.random.default_rng(seed)
    event = poisson(rng, ROWS, 200.0)
    lag = 20.0 * (1 - np.cos(4 * np.pi * event / event[-1]))
    return record("a reader that lags", event, lag + rng.exponential(0.3, ROWS))


def skewed(seed: int) -> DisorderedStream:
    """A tenth of the senders' clocks is 20 seconds ahead."""
    rng = np.random.default_rng(seed)
    event = poisson(rng, ROWS, 150.0)
    ahead = np.where(rng.random(ROWS) < 0.1, 20.0, 0.0)
    arrival = event + rng.lognormal(-0.5, 0.7, ROWS)
    return record("clocks ahead", event + ahead, arrival - event - ahead)


def sparse(seed: int) -> DisorderedStream:
    """Six rows a minute, heavy tail."""
    rng = np.random.default_rng(seed)
    return record("sparse", poisson(rng, 8_000, 0.1), 2.0 * (1 + rng.pareto(2.0, 8_000)))


def daily(seed: int) -> DisorderedStream:
    """Rate and delays rise and fall together, four times over the stream."""
    rng = np.random.default_rng(seed)
    event = np.cumsum(rng.exponential(1.0, ROWS) / (150.0 * (1.2 + np.sin(np.linspace(0.0, 8 * np.pi, ROWS)))))
    busy = np.sin(np.linspace(0.0, 8 * np.pi, ROWS))
    return record("a daily rhythm", event, 0.5 * np.exp(0.8 * busy) * rng.gamma(2.0, 0.5, ROWS))


def shared(seed: int) -> DisorderedStream:
    """Fifty rows at a time have one timestamp."""
    rng = np.random.default_rng(seed)
    event = np.repeat(np.cumsum(rng.exponential(0.25, ROWS // 50)), 50)
    return record("timestamps of 50 rows", event, rng.lognormal(-0.5, 0.8, len(event)))


def three_clocks(seed: int) -> DisorderedStream:
    """Three senders, not named, whose clocks are 0, 3 and 7 seconds behind."""
    rng = np.random.default_rng(seed)
    event = poisson(rng, ROWS, 200.0)
    behind = np.array([0.0, 3.0, 7.0])[rng.integers(0, 3, ROWS)]
    return record("three clocks", event, behind + rng.exponential(0.4, ROWS))


def short(seed: int) -> DisorderedStream:
    """2,000 rows, one every two seconds."""
    rng = np.random.default_rng(seed)
    return record("2,000 rows", poisson(rng, 2_000, 0.5), rng.lognormal(1.0, 1.0, 2_000))


def long(seed: int) -> DisorderedStream:
    """Half a million rows with gamma delays."""
    rng = np.random.default_rng(seed)
    return record("half a million", poisson(rng, 500_000, 5_000.0), rng.gamma(2.0, 0.5, 500_000))


def switching(seed: int) -> DisorderedStream:
    """A Markov chain switches the delays between exponential and Pareto(1.3), every 20 seconds in the mean."""
    rng = np.random.default_rng(seed)
    event = poisson(rng, ROWS, 300.0)
    switches = np.cumsum(rng.random(int(event[-1]) + 1) < 0.05)
    heavy = switches[event.astype(np.int64)] % 2 == 1
    delay = np.where(heavy, 0.2 * (1 + rng.pareto(1.3, ROWS)), rng.exponential(0.2, ROWS))
    return record("tails that switch", event, delay)


def pauses(seed: int) -> DisorderedStream:
    """Every 52 seconds nothing gets through for 8, then all of it at once, in no order."""
    rng = np.random.default_rng(seed)
    event = poisson(rng, ROWS, 228.0)
    before_the_end = 52.0 - event % 52.0
    paused = np.where(before_the_end < 8.0, before_the_end, 0.0)
    return record("pauses", event, paused + rng.uniform(0.0, 4.0, ROWS))


UNSEEN = (
    weibull, congestion, retries, uploads, queue, offset, step, seconds, lagging, skewed, sparse,
    daily, shared, three_clocks, short, long, switching, pauses,
)  # fmt: skip
