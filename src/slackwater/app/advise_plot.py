"""Draw the late rows and the hold of each estimator on a trace."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from slackwater.algebra.lengths import MICROSECONDS
from slackwater.algebra.policies import ratio_text
from slackwater.app.advise import Advice, AdviceLine
from slackwater.disorder import NO_PUNCTUATION

POINTS = 4_000
"""The largest number of rows that are drawn as dots; more dots would cover each other."""
NAME_HEIGHT = 0.055
"""The height of a name, as a share of the height of the axes."""
DRAWN = ("budget", "adaptive", "quantile", "best constant (newest)")


def plot(advice: Advice, file: Path) -> None:
    """Draw two charts into a file: hold against late share for each line, and punctuations with rows over time."""
    figure = Figure(figsize=(13, 5.2), layout="constrained")
    trade, course = figure.subplots(1, 2)
    _trade(trade, advice)
    _course(course, advice)
    suspect = f" ({advice.suspect:,} suspect rows left out)" if advice.suspect else ""
    figure.suptitle(f"{Path(advice.trace).name}: {advice.rows:,} rows{suspect}, DRATIO {ratio_text(advice.dratio)}")
    figure.savefig(file, dpi=120)


def _trade(axes: Axes, advice: Advice) -> None:
    axes.axvline(advice.dratio * 100, color="#999999", linestyle="--", linewidth=1)
    where = axes.get_xaxis_transform()
    axes.text(advice.dratio * 100, 0.02, " allowed", transform=where, fontsize=8, color="#777777")
    least = 100 * 0.3 / advice.rows
    ordered = sorted(advice.lines, key=lambda line: (line.mean_hold, line.late_share))
    places = [(max(line.late_share * 100, least), max(line.mean_hold, 1e-4)) for line in ordered]
    for line, place in zip(ordered, places, strict=True):
        axes.plot(*place, marker="D" if line.yardstick else "o", color=_colour(line), markersize=8)
    axes.set(xscale="log", yscale="log", xlabel="late rows, %", ylabel="mean hold, s", title="what it costs")
    axes.margins(y=0.15)
    axes.set_xlim(least / 2, 100)
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.grid(visible=True, which="major", alpha=0.3)
    _name(axes, ordered, places)


def _name(axes: Axes, lines: list[AdviceLine], places: list[tuple[float, float]]) -> None:
    """Write the names in a column beside the axes, in the order of the points, with a line from each to its point.

    Beside the points the names would overlap, because points may coincide.
    """
    low, high = np.log(axes.get_ylim())
    heights = spread([(float(np.log(hold)) - low) / (high - low) for _, hold in places], NAME_HEIGHT)
    for line, place, height in zip(lines, places, heights, strict=True):
        axes.annotate(
            line.name,
            place,
            xytext=(1.06, height),
            textcoords="axes fraction",
            annotation_clip=False,
            va="center",
            fontsize=8,
            color=_colour(line),
            arrowprops={"arrowstyle": "-", "relpos": (0, 0.5), "color": _colour(line), "alpha": 0.35, "shrinkB": 4},
        )


def spread(wanted: list[float], gap: float) -> list[float]:
    """Return heights near `wanted`, which must ascend: at most 1, and at least `gap` apart.

    >>> spread([0.2, 0.2, 0.9, 1.0], 0.25)
    [0.2, 0.45, 0.75, 1.0]
    """
    placed: list[float] = []
    for each in wanted:
        placed.append(max(each, placed[-1] + gap) if placed else each)
    limit = 1.0
    for number in reversed(range(len(placed))):
        placed[number] = min(placed[number], limit)
        limit = placed[number] - gap
    return placed


def _course(axes: Axes, advice: Advice) -> None:
    batches = advice.batches
    start = int(batches.arrival.min())
    shown = np.linspace(0, len(batches.event) - 1, min(POINTS, len(batches.event))).astype(int)
    age = (batches.event - batches.arrival)[shown] / MICROSECONDS["second"]
    seconds = (batches.arrival[shown] - start) / MICROSECONDS["second"]
    axes.plot(seconds, age, ".", color="#bbbbbb", markersize=2, label="rows")
    clock = (batches.clock - start) / MICROSECONDS["second"]
    for line in advice.lines:
        if line.name in DRAWN and line.punctuation is not None:
            there = line.punctuation > NO_PUNCTUATION
            behind = (line.punctuation - batches.clock)[there] / MICROSECONDS["second"]
            axes.plot(clock[there], behind, drawstyle="steps-post", linewidth=1.2, color=_colour(line), label=line.name)
    low, high = np.quantile(age, [0.0005, 1.0])
    lowest = min([low, *(_lowest(line, batches.clock) for line in advice.lines if line.name == "budget")])
    axes.set_ylim(1.15 * lowest - 0.05, max(high, 0) + 0.05 * abs(lowest) + 0.05)
    axes.set(xlabel="arrival, s since the first row", ylabel="event time minus clock, s", title="punctuations and rows")
    axes.legend(fontsize=8, loc="best")
    axes.grid(visible=True, alpha=0.3)


def _lowest(line: AdviceLine, clock: np.ndarray) -> float:
    if line.punctuation is None:
        return 0.0
    there = line.punctuation > NO_PUNCTUATION
    behind = (line.punctuation - clock)[there] / MICROSECONDS["second"]
    return float(np.quantile(behind, 0.02)) if len(behind) else 0.0


def _colour(line: AdviceLine) -> str:
    palette = {"budget": "#d1495b", "adaptive": "#33658a", "quantile": "#86a873"}
    return palette.get(line.name, "#2f4858" if line.yardstick else "#8d8d8d")
