"""A picture of a run as a PNG or SVG file, with charts as on the dashboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, PercentFormatter

from slackwater.app.monitor.board import Board, Followed
from slackwater.app.monitor.delays import lower
from slackwater.app.monitor.words import amount, percent, seconds

BLUE, TEAL, AMBER, RED, VIOLET, GREY = "#2563c9", "#0d8582", "#b97800", "#c9302c", "#7b45c4", "#7a8594"


def draw_run(board: Board, file: Path) -> None:
    """Draw every pipeline of a run: late share, punctuation, delays and hold, one row of charts for each."""
    followed = [each for each in board.pipelines.values() if len(each.history) > 1]
    figure = Figure(figsize=(15, 3.6 * max(1, len(followed)) + 0.4), layout="constrained")
    rows = figure.subplots(max(1, len(followed)), 4, squeeze=False)
    for axes, each in zip(rows, followed, strict=False):
        _late(axes[0], each)
        _times(axes[1], each)
        _delays(axes[2], each)
        _holds(axes[3], each)
        axes[0].set_ylabel(each.name, fontsize=11, fontweight="bold")
    figure.savefig(file, dpi=110)


def _since(followed: Followed) -> list[float]:
    """Return the time of each point, in seconds since the first batch."""
    at = followed.history.columns["at"]
    return [(each - at[0]) / 1_000 for each in at]


def _late(axes: Axes, followed: Followed) -> None:
    columns, times = followed.history.columns, _since(followed)
    axes.plot(times, columns["ratio"], color=BLUE, label="since the start")
    axes.plot(times, columns["ratio_minute"], color=TEAL, label="last minute")
    if followed.allowed is not None:
        axes.axhline(followed.allowed, color=RED, linestyle="--", label=f"allowed {percent(followed.allowed)}")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=1))
    _dress(axes, f"Late share, {percent(followed.ratio)} of {amount(followed.history.total('rows_in'))} rows")


def _times(axes: Axes, followed: Followed) -> None:
    columns, times = followed.history.columns, _since(followed)
    newest, lag = [-each for each in columns["newest"]], [-each for each in columns["lag"]]
    axes.fill_between(times, lag, newest, color=BLUE, alpha=0.12)
    axes.axhline(0, color=GREY, label="clock")
    axes.plot(times, newest, color=TEAL, label="newest event time")
    axes.plot(times, lag, color=BLUE, label="punctuation")
    _dress(axes, "Seconds behind the clock")


def _delays(axes: Axes, followed: Followed) -> None:
    buckets = sorted(each for each, rows in followed.delays.all.items() if rows)
    if buckets:
        span = range(max(1, buckets[0]), buckets[-1] + 2)
        edges = [lower(each) for each in span]
        axes.stairs(followed.delays.shares(followed.delays.all, span[:-1]), edges, fill=True, color=TEAL, alpha=0.5)
        fixed = followed.delays.fixed_delay(followed.ratio)
        axes.axvline(max(followed.behind, 1e-3), color=BLUE, label=f"punctuation, {seconds(followed.behind)} behind")
        axes.axvline(fixed, color=AMBER, linestyle="--", label=f"fixed delay of the same share, {seconds(fixed)}")
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(_delay_text))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=1))
    axes.set_ylim(top=1.3 * axes.get_ylim()[1])  # room for the legend
    _dress(axes, "Delays", time=False)


def _holds(axes: Axes, followed: Followed) -> None:
    columns, times = followed.history.columns, _since(followed)
    for name, title, colour in (("hold_p99", "p99", VIOLET), ("hold_mean", "mean", BLUE), ("hold_p50", "p50", TEAL)):
        axes.plot(times, columns[name], color=colour, label=title)
    _dress(axes, "Hold, in seconds")


def _delay_text(value: float, _: Any) -> str:
    return seconds(value)


def _dress(axes: Axes, title: str, *, time: bool = True) -> None:
    axes.set_title(title, fontsize=10, loc="left")
    axes.grid(axis="y", color="#e6e9ed")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8, color="#c4cad1")
    if time:
        axes.set_xlabel("seconds since the first batch", fontsize=8)
        axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=7.5, frameon=False, loc="best" if time else "upper left")
