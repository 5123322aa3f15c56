"""Answer error: how wrong windows are at a drop ratio, and how long rows would be held for an error of 1%.

    python -m bench answer-error       prints the tables of docs/design/answer-error.md and draws its plot

Tumbling windows of 10 s and 1 minute over the recorded traces and streams of the wide set. A row misses its window if
the punctuation passed the end of the window before the batch of the row. The error of an answer is its distance from
the answer of all rows, relative to that; an empty answer has an error of 1. The traces have no measured values, so
values are drawn: log-normal, independent of delays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.disorder.budget import recorded
from bench.disorder.report import COLOURS, MARKS, PAGES, mpl, plt, seconds, share, table
from bench.disorder.wide import cut, draw
from slackwater.disorder import controller
from slackwater.disorder.replay.replaying import Batches, Bools, Ints, batches_by_time, measure, replay
from slackwater.disorder.replay.yardsticks import best_constant, newest
from slackwater.testing.disordered import DisorderedStream

Floats = NDArray[np.float64]

RATIOS = (0.001, 0.01, 0.05)
TARGET = 0.01
WINDOWS = (10, 60)  # seconds
AGGREGATES = ("COUNT", "SUM", "AVG", "MAX")
SEEDS = range(200, 260)
FEWEST_WINDOWS, FEWEST_ROWS = 30, 10  # of a stream, and on average of a window: fewer say nothing
UNITS = {1: "s", 1_000: "ms", 1_000_000: "us"}
ROUNDS = 24


@dataclass(frozen=True, slots=True)
class Windowed:
    """A stream in batches with the window of each row, and the answers of all rows by aggregate."""

    name: str
    ticks: int
    batches: Batches
    value: Floats
    window: Ints
    ends: Ints
    truth: dict[str, Floats]


@dataclass(frozen=True, slots=True)
class Found:
    """The errors at each ratio, and the mean holds (seconds) that keep D = 1% and an error of 1%."""

    errors: tuple[float, ...]
    ratio_hold: float
    error_hold: float


def answers(windowed: Windowed, kept: Bools) -> dict[str, Floats]:
    """Return the answers over the rows that are kept, by aggregate; the average and the largest of no row are 0."""
    window, value = windowed.window[kept], windowed.value[kept]
    count = np.bincount(window, minlength=len(windowed.ends))
    total = np.bincount(window, value, len(windowed.ends))
    largest = np.zeros(len(windowed.ends))
    np.maximum.at(largest, window, value)
    return {"COUNT": count.astype(float), "SUM": total, "AVG": total / np.maximum(count, 1), "MAX": largest}


def windows(stream: DisorderedStream, batches: Batches, size: int, seed: int) -> Windowed:
    """Cut a stream into tumbling windows of so many seconds; those with a row count."""
    ends, window = np.unique((batches.event // (size * stream.ticks) + 1) * size * stream.ticks, return_inverse=True)
    value = np.random.default_rng([5, seed]).lognormal(0.0, 1.0, len(window))
    made = Windowed(stream.name, stream.ticks, batches, value, window, ends, {})
    made.truth.update(answers(made, np.ones(len(window), np.bool_)))
    return made


def errors(windowed: Windowed, punctuation: Ints) -> dict[str, float]:
    """Return the mean relative error of the answers, by aggregate."""
    kept = windowed.ends[windowed.window] > windowed.batches.before(punctuation)
    found = answers(windowed, kept)
    return {
        name: float(np.mean(np.abs(found[name] - truth) / np.maximum(truth, 1e-12)))
        for name, truth in windowed.truth.items()
    }


def hold_for(windowed: Windowed, aggregate: str) -> float:
    """Return the mean hold of the shortest constant delay behind the newest row that keeps the error, in seconds."""
    clock, low, high = newest(windowed.batches), 0, int(np.ptp(windowed.batches.event)) + 1
    for _ in range(ROUNDS):
        middle = (low + high) // 2
        if errors(windowed, clock - middle)[aggregate] <= TARGET:
            high = middle
        else:
            low = middle + 1
    return measure(windowed.batches, clock - high).mean_hold / windowed.ticks


def streams() -> Iterator[tuple[DisorderedStream, Batches]]:
    """The traces in batches of a second, and the wide set in its own."""
    for stream in recorded():
        if stream.source is None:
            yield stream, batches_by_time(stream.event, stream.arrival, stream.ticks)
    for seed in SEEDS:
        stream = draw(seed)
        yield stream, cut(stream, seed, 200)


def measure_all() -> dict[tuple[int, str], dict[str, Found]]:
    """Return what was found by window size and aggregate, then by stream."""
    found: dict[tuple[int, str], dict[str, Found]] = {(s, a): {} for s in WINDOWS for a in AGGREGATES}
    for seed, (stream, batches) in enumerate(streams()):
        runs = [replay(batches, controller(d, unit=UNITS[stream.ticks]))[0] for d in RATIOS]
        ratio = best_constant(batches, int(TARGET * len(stream)), "newest").measures.mean_hold / stream.ticks
        for size in WINDOWS:
            windowed = windows(stream, batches, size, seed)
            if len(windowed.ends) < FEWEST_WINDOWS or len(stream) < FEWEST_ROWS * len(windowed.ends):
                continue
            at = [errors(windowed, punctuation) for punctuation in runs]
            for aggregate in AGGREGATES:
                shown = tuple(each[aggregate] for each in at)
                found[size, aggregate][stream.name] = Found(shown, ratio, hold_for(windowed, aggregate))
    return found


def page(found: dict[tuple[int, str], dict[str, Found]]) -> str:
    """Return the table: errors at each ratio (median and 90% of the streams), and the hold for an error of 1%."""
    lines = []
    for (size, aggregate), by_stream in found.items():
        every = list(by_stream.values())
        spread = [np.quantile([each.errors[place] for each in every], (0.5, 0.9)) for place in range(len(RATIOS))]
        gain = np.quantile([each.error_hold / max(each.ratio_hold, 1e-9) for each in every], (0.1, 0.5, 0.9))
        cells = [f"{share(middle)} / {share(high)}" for middle, high in spread]
        lines.append((f"{aggregate}, {size} s", len(every), *cells, " / ".join(f"{each:.2f}" for each in gain)))
    head = ("answer", "streams", *(f"error at D = {share(d)}" for d in RATIOS), "hold for ERROR 1% over DRATIO 1%")
    return table(head, lines)


def traces(found: dict[tuple[int, str], dict[str, Found]]) -> str:
    """Return the errors at D = 1% and the holds on the recorded traces."""
    lines = []
    for (size, aggregate), by_stream in found.items():
        for name, each in list(by_stream.items())[:3]:
            if not name[0].isdigit():
                told = (share(each.errors[1]), seconds(each.ratio_hold), seconds(each.error_hold))
                lines.append((name, f"{aggregate}, {size} s", *told))
    return table(("trace", "answer", "error at D = 1%", "hold for D = 1%", "hold for ERROR 1%"), sorted(lines))


def plot(found: dict[tuple[int, str], dict[str, Found]]) -> None:
    """Draw the hold for an error of 1% over that for D = 1%, as a distribution over the streams."""
    figure, axes = plt.subplots(1, len(WINDOWS), figsize=(9, 3.4), sharey=True)
    for axis, size in zip(axes, WINDOWS, strict=True):
        for aggregate, colour, mark in zip(AGGREGATES, COLOURS, MARKS, strict=False):
            every = found[size, aggregate].values()
            ratios = np.sort([each.error_hold / max(each.ratio_hold, 1e-9) for each in every])
            axis.plot(ratios, np.arange(1, len(ratios) + 1) / len(ratios), mark, ls="-", color=colour, ms=3,
                      label=aggregate)  # fmt: skip
        axis.axvline(1.0, color="#999999", lw=0.8)
        axis.set(xscale="log", title=f"windows of {size} s", xlabel="hold for ERROR 1% over hold for DRATIO 1%")
        axis.set_xlim(0.01, 10)
    axes[0].set_ylabel("share of the streams")
    axes[0].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(PAGES / "answer-error.png", dpi=110)
    plt.close(figure)


def main() -> None:
    mpl.rcParams["font.size"] = 9
    found = measure_all()
    plot(found)
    print(page(found), traces(found), sep="\n\n")


if __name__ == "__main__":
    main()
