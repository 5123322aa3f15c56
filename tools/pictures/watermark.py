"""Pictures of single rows: what late, lost, held, suspect and rejected mean.

All show the same rows by arrival (across) and event time (up), in four batches, with the watermark that was in force in
each batch. What a picture is about is in colour.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tools.pictures.style import AMBER, BLUE, FAINT, GREY, PALE, RED, SMALL, TEAL, TITLE, VIOLET, plot, save

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
        """Return whether the window of a row was answered in a batch before the row's own."""
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
    figure, axes = plot("")
    axes.plot((0, 40), (0, 40), color=GREY, linewidth=1, linestyle=":")
    axes.text(2.2, 5.4, "no delay", color=FAINT, fontsize=SMALL, rotation=27)
    edges = [0.0, *[BATCH * n for n in range(1, 5)]]
    axes.stairs(WATERMARKS, edges, baseline=None, color=BLUE, linewidth=2)
    axes.text(39.6, 22.8, "watermark", color=BLUE, fontsize=SMALL, ha="right", va="top")
    for edge in edges[1:-1]:
        axes.axvline(edge, color=PALE, linewidth=1, zorder=0)
    for number in range(4):
        axes.text(BATCH * number + 5, 40.6, f"batch {number}", ha="center", fontsize=SMALL, color=FAINT)
    for row in ROWS:
        on = chosen(row)
        axes.plot(row.arrival, row.event, "o", color=colour if on else GREY, markersize=8 if on else 6)
    if chosen(NO_TIME):
        axes.plot(NO_TIME.arrival, -1.2, "X", color=colour, markersize=9, clip_on=False)
    axes.annotate(said, where, fontsize=SMALL, color=colour, ha="left", va="center")
    axes.set(xlim=(0, 40), ylim=(-1.5, 40), xlabel="arrival, seconds", ylabel="event time, seconds")
    axes.set_title(title, loc="left", fontsize=TITLE, pad=16)
    save(figure, name)


PICTURES: dict[str, Callable[[str], None]] = {
    "late": partial(
        draw, title="Late: behind the watermark when it arrives", colour=AMBER, chosen=lambda row: row.is_late,
        said="below the blue line of its batch", where=(14.8, 3.4),
    ),
    "lost": partial(
        draw, title="Lost: late, and its window was answered before", colour=RED, chosen=lambda row: row.is_lost,
        said="event time 7: the window [0, 10)\nwas answered in batch 2", where=(21, 2.6),
    ),
    "held": partial(
        draw, title="Held: arrived, and the watermark has not passed it (end of batch 1)", colour=TEAL,
        chosen=lambda row: row.batch < 2 and row.event is not None and row.event >= WATERMARKS[2],
        said="rows above the next\nwatermark, 15, wait", where=(21, 30),
    ),
    "suspect": partial(
        draw, title="Suspect: stamped long after it arrived", colour=VIOLET, chosen=lambda row: row.is_suspect,
        said="arrived at 18.5, stamped 34:\nit does not move the watermark", where=(1.0, 32),
    ),
    "rejected": partial(
        draw, title="Rejected: no event time that can be read", colour=RED, chosen=lambda row: row.event is None,
        said="no place on the time axis", where=(21.5, 1.6),
    ),
}  # fmt: skip
