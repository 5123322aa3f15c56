"""Pictures of disorder control: the loop around the controller, and runs of the real controller."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray
from tools.pictures.style import (
    AMBER,
    BLUE,
    FAINT,
    GREY,
    INK,
    PALE_AMBER,
    PALE_BLUE,
    PALE_RED,
    PALE_TEAL,
    RED,
    SMALL,
    TEAL,
    arrow,
    box,
    diagram,
    note,
    plot,
    save,
)

from slackwater.disorder import controller
from slackwater.disorder.replay.replaying import Batches, Measures, batches_by_time, late_rows, replay

SECOND = 1_000_000


def draw_loop(name: str) -> None:
    """Draw the way of rows through a query, and of counts and watermarks around it."""
    figure, axes = diagram("Counts go to the driver, a watermark comes back", high=40)
    for x, text in ((0, "source"), (22, "gauge"), (50, "WHERE, windows,\njoins, aggregates"), (84, "sink")):
        box(axes, x, 26, 24 if x == 50 else 16, 10, text, fill=PALE_BLUE)
    for start, end in ((16, 22), (38, 50), (74, 84)):
        arrow(axes, (start, 31), (end, 31), BLUE)
    note(axes, 30, 22.5, "reads 2 numbers\nof each row", ha="right")
    box(axes, 34, 3, 24, 10, "controller,\nin the driver", edge=TEAL, fill=PALE_TEAL)
    arrow(axes, (32, 26), (40, 13), TEAL)
    arrow(axes, (54, 13), (62, 26), TEAL)
    note(axes, 33, 16.5, "how many rows\nhave which delay", TEAL, ha="right")
    note(axes, 61, 16.5, "watermark\nof the next batch", TEAL, ha="left")
    box(axes, 78, 3, 22, 10, "checkpoint", edge=AMBER, fill=PALE_AMBER)
    arrow(axes, (58, 8), (78, 8), AMBER)
    note(axes, 68, 10.5, "state", AMBER)
    save(figure, name)


@cache
def tripled() -> tuple[NDArray[np.int64], NDArray[np.float64], Batches, NDArray[np.int64], Measures]:
    """Return a run in batches of one second: delays triple for 40 seconds; at most 1% of the rows may be late."""
    rng = np.random.default_rng(3)
    arrival = np.sort(rng.uniform(0, 180 * SECOND, 90_000)).astype(np.int64)
    slow = (arrival > 60 * SECOND) & (arrival < 100 * SECOND)
    delay = rng.exponential(0.4 * SECOND, len(arrival)) * np.where(slow, 3, 1)
    batches = batches_by_time((arrival - delay).astype(np.int64), arrival, SECOND)
    return arrival, delay, batches, *replay(batches, controller(0.01))


def draw_controller(name: str) -> None:
    """Draw the delays of that run, and how far the watermark is behind."""
    arrival, delay, batches, punctuation, measures = tripled()
    late, known = late_rows(batches, punctuation), punctuation > 0
    figure, axes = plot(f"Delays triple from 60 to 100 s: {measures.late_share:.2%} of the rows are late")
    dots = {"markersize": 2, "rasterized": True}
    some = np.random.default_rng(3).choice(len(arrival), 6_000, replace=False)
    axes.plot(arrival[some] / 1e6, delay[some] / 1e6, ".", color=GREY, **dots, label="rows (one in 15)")
    axes.plot(arrival[late] / 1e6, delay[late] / 1e6, ".", color=AMBER, **dots, label="late rows (all)")
    lag = (batches.clock - punctuation)[known] / 1e6
    label = "how far the watermark is behind"
    axes.step(batches.clock[known] / 1e6, lag, where="post", color=BLUE, linewidth=2, label=label)
    axes.set(xlim=(0, 180), ylim=(0, 12), xlabel="arrival, seconds", ylabel="delay, seconds")
    axes.legend(frameon=False, fontsize=SMALL, loc="upper right", markerscale=4)
    save(figure, name)


def draw_account(name: str) -> None:
    """Draw the account of that run: the late rows, and the rows that may be late."""
    arrival, _, batches, punctuation, _ = tripled()
    late = np.cumsum(late_rows(batches, punctuation))[::100]
    allowed = 0.01 * np.arange(1, len(arrival) + 1)[::100]
    figure, axes = plot("The account: late rows, and how many may be late")
    seconds = arrival[::100] / 1e6
    axes.plot(seconds, allowed, color=FAINT, linewidth=1.5, linestyle="--")
    axes.plot(seconds, late, color=AMBER, linewidth=2)
    axes.fill_between(seconds, late, allowed, where=late <= allowed, color=PALE_TEAL, linewidth=0)
    axes.fill_between(seconds, late, allowed, where=late > allowed, color=PALE_RED, linewidth=0)
    note(axes, 150, 830, "1% of the rows so far", FAINT, ha="right")
    note(axes, 178, float(late[-1]) - 90, "late rows so far", AMBER, ha="right")
    note(axes, 40, 40, "to spare", TEAL)
    debt = int(np.argmax(late - allowed))
    axes.annotate(
        "a debt: the controller\nwaits longer than the\ndelays alone ask for", (seconds[debt], late[debt]),
        (15, 520), color=RED, fontsize=SMALL, arrowprops={"arrowstyle": "-", "color": RED},
    )  # fmt: skip
    axes.set(xlim=(0, 180), ylim=(0, 950), xlabel="arrival, seconds", ylabel="rows")
    save(figure, name)


def draw_level(name: str) -> None:
    """Draw which delay a share of late rows asks for, for delays with a light and with a heavy tail."""
    rng = np.random.default_rng(5)
    rows = 200_000
    kinds = {
        "light tail (exponential)": (rng.exponential(1.0, rows), TEAL),
        "heavy tail (Pareto)": (0.35 * (1 + rng.pareto(1.5, rows)), AMBER),
    }
    figure, axes = plot("How long must the query wait for all but 1%?")
    axes.axhline(0.01, color=FAINT, linewidth=1.5, linestyle="--")
    axes.text(29.5, 0.0108, "DRATIO 1%", color=FAINT, fontsize=SMALL, ha="right", va="bottom")
    share = 1 - np.arange(1, rows + 1) / rows
    for kind, (delays, colour) in kinds.items():
        needed = float(np.quantile(delays, 0.99))
        label = f"{kind}, mean {delays.mean():.1f} s"
        axes.plot(np.sort(delays)[::20], share[::20], color=colour, linewidth=2, label=label)
        axes.plot((needed, needed), (1e-4, 0.01), color=colour, linewidth=1.2, linestyle=":")
        axes.plot(needed, 0.01, "o", color=colour, markersize=7)
        axes.text(needed - 0.3, 0.00025, f"{needed:.1f} s", color=colour, fontsize=SMALL, ha="right")
    axes.set(xlim=(0, 30), ylim=(1e-4, 1), yscale="log")
    axes.set(xlabel="delay, seconds", ylabel="share of rows that take longer")
    axes.set_yticks((1, 0.1, 0.01, 0.001, 0.0001), ("100%", "10%", "1%", "0.1%", "0.01%"))
    axes.legend(frameon=False, fontsize=SMALL, loc="upper right")
    save(figure, name)


def draw_clock(name: str) -> None:
    """Draw one wrong clock under a watermark of the newest time less 10 seconds, and under the controller."""
    rng = np.random.default_rng(7)
    arrival = np.sort(rng.uniform(0, 360, 14_400))
    wrong = (rng.integers(0, 20, len(arrival)) == 7) & (arrival > 120)
    event = arrival - np.minimum(rng.exponential(1.5, len(arrival)), 60) + np.where(wrong, 3_600, 0)
    batches = batches_by_time((event * 1e6).astype(np.int64), (arrival * 1e6).astype(np.int64), 5 * SECOND)
    punctuation, _ = replay(batches, controller(0.01))
    newest = np.maximum.accumulate(batches.event)[batches.ends - 1] - 10 * SECOND
    figure, axes = plot("From 120 s on, the clock of one sender in twenty is an hour ahead")
    shares = []
    for marks in (newest, punctuation):
        late = late_rows(batches, marks)
        shares.append(late[~wrong].mean())
    clock, known = batches.clock / 1e6, punctuation > 0
    fixed = f"newest event time - 10 s: {shares[0]:.0%} of the honest rows are late"
    ours = f"DRATIO 1%: {shares[1]:.1%} of the honest rows are late"
    axes.step(clock, newest / 1e6, where="post", color=RED, linewidth=2, label=fixed)
    axes.step(clock[known], punctuation[known] / 1e6, where="post", color=BLUE, linewidth=2, label=ours)
    axes.plot((0, 360), (0, 360), color=GREY, linestyle=":", linewidth=1.5, label="no delay")
    axes.set(xlim=(0, 360), ylim=(0, 560), xlabel="arrival, seconds", ylabel="watermark, seconds")
    axes.annotate("goes up to 3,710 s", (122, 540), color=RED, fontsize=SMALL, xytext=(128, 530))
    axes.legend(frameon=False, fontsize=SMALL, loc="lower right", labelcolor=INK)
    save(figure, name)


PICTURES: dict[str, Callable[[str], None]] = {
    "loop": draw_loop,
    "level": draw_level,
    "controller": draw_controller,
    "account": draw_account,
    "clock": draw_clock,
}
