"""Draws the pictures of the guide into docs/images/guide: `python tools/pictures.py`.

The pictures of single rows show the same rows by arrival (across) and event time (up), in four batches, with the
watermark that was in force in each batch. What a picture is about is in colour.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np

from slackwater.disorder import controller
from slackwater.disorder.replay.replaying import batches_by_time, late_rows, replay

mpl.use("svg")
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

FOLDER = Path(__file__).parents[1] / "docs" / "images" / "guide"
BLUE, GREY, RED, AMBER, TEAL, VIOLET = "#2563c9", "#b7bec8", "#c9302c", "#d08700", "#0d8582", "#7b45c4"
WIDTH, HEIGHT = 6.4, 3.3
BATCH = 10
WATERMARKS = (0.0, 6.0, 15.0, 24.0)
"""The watermark in each batch: it was computed from the batches before."""
WINDOW = 10
"""Windows are [0, 10), [10, 20), ..."""


@dataclass(frozen=True, slots=True)
class Row:
    arrival: float
    event: float | None

    @property
    def batch(self) -> int:
        return int(self.arrival // BATCH)

    @property
    def is_late(self) -> bool:
        return self.event is not None and self.event < WATERMARKS[self.batch]

    @property
    def is_lost(self) -> bool:
        """Whether its window was answered in an earlier batch; one that is answered in its own batch has it."""
        if self.event is None or self.batch == 0:
            return False
        return (self.event // WINDOW + 1) * WINDOW <= WATERMARKS[self.batch - 1]

    @property
    def is_suspect(self) -> bool:
        return self.event is not None and self.event > self.arrival + 5


ROWS = tuple(
    Row(*each)
    for each in (
        (1.5, 1), (4, 3.2), (6, 2), (8.5, 8), (12, 11.5), (13.5, 4.5), (15, 14), (17, 16.2), (18.5, 34),
        (22, 21), (24, 8), (26.5, 25), (31.5, 31), (34, 7), (36, 35),
    )
)  # fmt: skip
NO_TIME = Row(20.5, None)


def draw(
    name: str, title: str, colour: str, chosen: Callable[[Row], bool], said: str, where: tuple[float, float]
) -> None:
    """Draw one picture: the chosen rows in colour with a sentence beside them, the others in grey."""
    figure, axes = plt.subplots(figsize=(WIDTH, HEIGHT))
    axes.plot((0, 40), (0, 40), color=GREY, linewidth=1, linestyle=":")
    axes.text(2.2, 5.4, "no delay", color="#7b8493", fontsize=8, rotation=27)
    edges = [0.0, *[BATCH * n for n in range(1, 5)]]
    axes.stairs(WATERMARKS, edges, baseline=None, color=BLUE, linewidth=2)
    axes.text(39.6, 22.8, "watermark", color=BLUE, fontsize=9, ha="right", va="top")
    for edge in edges[1:-1]:
        axes.axvline(edge, color="#e3e7ee", linewidth=1, zorder=0)
    for number in range(4):
        axes.text(BATCH * number + 5, 40.6, f"batch {number}", ha="center", fontsize=8, color="#7b8493")
    for row in ROWS:
        on = chosen(row)
        axes.plot(row.arrival, row.event, "o", color=colour if on else GREY, markersize=8 if on else 6)
    if chosen(NO_TIME):
        axes.plot(NO_TIME.arrival, -1.2, "X", color=colour, markersize=9, clip_on=False)
    axes.annotate(said, where, fontsize=9, color=colour, ha="left", va="center")
    axes.set(xlim=(0, 40), ylim=(-1.5, 40), xlabel="arrival, seconds", ylabel="event time, seconds")
    axes.set_title(title, loc="left", fontsize=11, pad=16)
    save(figure, name)


def draw_controller() -> None:
    """Draw a run of the real controller: delays triple for 40 seconds; at most 1% of the rows may be late."""
    rng = np.random.default_rng(3)
    arrival = np.sort(rng.uniform(0, 180e6, 90_000)).astype(np.int64)
    slow = (arrival > 60e6) & (arrival < 100e6)
    delay = rng.exponential(0.4e6, len(arrival)) * np.where(slow, 3, 1)
    batches = batches_by_time((arrival - delay).astype(np.int64), arrival, 1_000_000)
    punctuation, measures = replay(batches, controller(0.01))
    late = late_rows(batches, punctuation)
    known = punctuation > 0
    figure, axes = plt.subplots(figsize=(WIDTH, HEIGHT))
    some = rng.choice(len(arrival), 6_000, replace=False)
    axes.plot(arrival[some] / 1e6, delay[some] / 1e6, ".", color=GREY, markersize=1.5, rasterized=True)
    axes.plot(
        arrival[late] / 1e6, delay[late] / 1e6, ".", color=AMBER, markersize=2.5, rasterized=True, label="late rows"
    )
    lag = (batches.clock - punctuation)[known] / 1e6
    axes.step(
        batches.clock[known] / 1e6, lag, where="post", color=BLUE, linewidth=1.5, label="watermark behind the clock"
    )
    axes.set(xlim=(0, 180), ylim=(0, 12), xlabel="arrival, seconds", ylabel="delay, seconds")
    axes.set_title(
        f"Delays triple from 60 to 100 s: {measures.late_share:.2%} of the rows are late", loc="left", fontsize=11
    )
    axes.legend(frameon=False, fontsize=8, loc="upper right")
    save(figure, "controller")


def draw_lifetimes() -> None:
    """Draw the changelog of a count over 10 seconds: rows at 1 and 4."""
    figure, axes = plt.subplots(figsize=(WIDTH, 2.2))
    for value, start, told, end in ((1, 1, 11, 4), (2, 4, 11, 11), (1, 11, 14, 14)):
        axes.plot((start, told), (value, value), color=GREY, linewidth=6, solid_capstyle="butt")
        axes.plot((start, end), (value, value), color=TEAL, linewidth=6, solid_capstyle="butt")
    axes.plot(4, 1, "X", color=RED, markersize=10)
    axes.annotate("delete at 4: it ends before\nthe 11 that was announced", (4.4, 1.12), fontsize=8, color=RED)
    axes.set(xlim=(0, 16), ylim=(0.5, 2.6), yticks=(1, 2), xlabel="event time, seconds", ylabel="count")
    axes.set_title("What holds when (teal), and what was announced (grey)", loc="left", fontsize=11)
    save(figure, "lifetimes")


def save(figure: Figure, name: str) -> None:
    """Write a picture, the same bytes each time."""
    for axes in figure.axes:
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None, "Creator": None}, dpi=120)
    plt.close(figure)


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    mpl.rcParams["svg.hashsalt"] = "slackwater"
    mpl.rcParams["svg.fonttype"] = "none"
    mpl.rcParams["font.family"] = "sans-serif"
    draw("late", "Late: behind the watermark when it arrives", AMBER, lambda row: row.is_late,
         "below the blue line of its batch", (14.8, 3.4))  # fmt: skip
    draw("lost", "Lost: late, and its window was answered before", RED, lambda row: row.is_lost,
         "event time 7: the window [0, 10)\nwas answered in batch 2", (21, 2.6))  # fmt: skip
    draw("held", "Held: arrived, and the watermark has not passed it (end of batch 1)", TEAL,
         lambda row: row.batch < 2 and row.event is not None and row.event >= WATERMARKS[2],
         "rows above the next\nwatermark, 15, wait", (21, 30))  # fmt: skip
    draw("suspect", "Suspect: stamped long after it arrived", VIOLET, lambda row: row.is_suspect,
         "arrived at 18.5, stamped 34:\nit does not move the watermark", (1.0, 32))  # fmt: skip
    draw("rejected", "Rejected: no event time that can be read", RED, lambda row: row.event is None,
         "no place on the time axis", (21.5, 1.6))  # fmt: skip
    draw_controller()
    draw_lifetimes()


if __name__ == "__main__":
    main()
