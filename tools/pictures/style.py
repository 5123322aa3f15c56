"""Colours, sizes and the parts that diagrams are made of."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

FOLDER = Path(__file__).parents[2] / "docs" / "images" / "guide"
BLUE, GREY, RED, AMBER, TEAL, VIOLET = "#2563c9", "#b7bec8", "#c9302c", "#d08700", "#0d8582", "#7b45c4"
INK, FAINT, PALE = "#1f2733", "#5d6675", "#e3e7ee"
PALE_BLUE, PALE_TEAL, PALE_AMBER, PALE_RED = "#e4edfb", "#dcf1f0", "#fbeed3", "#f9e1e0"
WIDTH, HEIGHT = 7.4, 3.6
"""Inches of a picture: text of 9 points is then as large on a page as the text around it."""
SMALL, TEXT, TITLE = 9, 10, 12
"""Points of annotations, of labels and of titles."""


def set_up() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    mpl.rcParams.update({
        "svg.hashsalt": "slackwater", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": TEXT,
        "text.color": INK, "axes.edgecolor": FAINT, "axes.labelcolor": INK,
        "xtick.color": FAINT, "ytick.color": FAINT, "xtick.labelsize": SMALL, "ytick.labelsize": SMALL,
    })  # fmt: skip


def plot(title: str, height: float = HEIGHT) -> tuple[Figure, Axes]:
    """Return axes for measured values or for rows in time."""
    figure, axes = plt.subplots(figsize=(WIDTH, height))
    axes.set_title(title, loc="left", fontsize=TITLE, color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def diagram(title: str, wide: float = 100, high: float = 40) -> tuple[Figure, Axes]:
    """Return axes without a scale, `wide` by `high` units, in which boxes are as large as they look."""
    figure, axes = plt.subplots(figsize=(WIDTH, WIDTH * high / wide + 0.35))
    axes.set(xlim=(-0.6, wide + 0.6), ylim=(-0.6, high))
    axes.set_title(title, loc="left", fontsize=TITLE, color=INK)
    axes.axis("off")
    return figure, axes


def lanes(title: str, names: dict[float, str], until: float, height: float = HEIGHT) -> tuple[Figure, Axes]:
    """Return axes with event time across and one named lane for each of the heights in `names`."""
    figure, axes = plot(title, height)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0, labelsize=TEXT, labelcolor=INK)
    axes.set_yticks(list(names), list(names.values()))
    axes.set(xlim=(0, until), ylim=(min(names) - 0.7, max(names) + 0.7), xlabel="event time, seconds")
    return figure, axes


def box(
    axes: Axes, x: float, y: float, wide: float, high: float, text: str, edge: str = BLUE, fill: str = "white",
    size: float = TEXT,
) -> None:  # fmt: skip
    """Draw a box by its lower left corner with a text in its middle."""
    axes.add_patch(FancyBboxPatch((x, y), wide, high, boxstyle="round,pad=0,rounding_size=1", ec=edge, fc=fill, lw=1.4))
    axes.text(x + wide / 2, y + high / 2, text, ha="center", va="center", fontsize=size)


def bar(axes: Axes, start: float, end: float, y: float, fill: str, text: str = "", high: float = 0.55) -> None:
    """Draw a stretch of time in a lane, with a text in its middle."""
    axes.barh(y, end - start, left=start, height=high, color=fill, edgecolor="white", linewidth=1.5)
    axes.text((start + end) / 2, y, text, ha="center", va="center", fontsize=SMALL)


def arrow(
    axes: Axes, start: tuple[float, float], end: tuple[float, float], colour: str = FAINT, bend: float = 0
) -> None:
    way = {"arrowstyle": "-|>", "color": colour, "lw": 1.4, "connectionstyle": f"arc3,rad={bend}"}
    axes.annotate("", end, start, arrowprops={**way, "shrinkA": 2, "shrinkB": 2, "mutation_scale": 13})


def note(axes: Axes, x: float, y: float, text: str, colour: str = FAINT, **options: object) -> None:
    axes.text(x, y, text, **{"color": colour, "fontsize": SMALL, "ha": "center", "va": "center", **options})


def save(figure: Figure, name: str) -> None:
    """Write a picture, the same bytes each time."""
    figure.tight_layout()
    figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None, "Creator": None}, dpi=120)
    plt.close(figure)
