"""Draw plans as boxes and arrows, side by side, to an SVG or PNG file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from textwrap import wrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from slackwater.algebra.nodes import Plan, inputs
from slackwater.app.render.label import Label, label

WIDTH, HEIGHT = 3.4, 1.45
"""Inches per operator, including its edge."""


@dataclass(frozen=True, slots=True)
class Box:
    """An operator and its position: x in columns, y in rows from the root down, and the boxes of its inputs."""

    said: Label
    x: float
    y: int
    below: tuple[Box, ...]


def picture(plans: Sequence[tuple[str, Plan]], kind: str) -> bytes:
    """Return the plans side by side under their titles, as the bytes of an `svg` or `png` file."""
    laid = [(title, *layout(plan)) for title, plan in plans]
    widths = [width for _, _, width in laid]
    rows = max(_rows(box) for _, box, _ in laid)
    figure = Figure(figsize=(WIDTH * sum(widths) + 0.4, HEIGHT * rows + 0.5), layout="constrained")
    axes = figure.subplots(1, len(laid), width_ratios=widths, squeeze=False)[0]
    for each, (title, root, width) in zip(axes, laid, strict=True):
        each.set_title(title, fontsize=11, loc="left")
        each.set_xlim(-0.5, width - 0.5)
        each.set_ylim(rows - 0.5, -0.5)
        each.axis("off")
        _draw(each, root)
    out = BytesIO()
    figure.savefig(out, format=kind, dpi=110)
    return out.getvalue()


def layout(plan: Plan, left: int = 0, row: int = 0) -> tuple[Box, int]:
    """Return the boxes of a plan, each centred over its inputs, and the next free column."""
    below, free = [], left
    for source in inputs(plan):
        box, free = layout(source, free, row + 1)
        below.append(box)
    centre = sum(box.x for box in below) / len(below) if below else left
    return Box(label(plan), centre, row, tuple(below)), max(free, left + 1)


def _rows(box: Box) -> int:
    return max((_rows(each) for each in box.below), default=box.y + 1)


def _draw(axes: Axes, box: Box) -> None:
    text = "\n".join([box.said.name, *wrap(box.said.parameters, 42)[:4]])
    style = {"boxstyle": "round,pad=0.35", "facecolor": "#e8f1f5", "edgecolor": "#33658a"}
    axes.text(box.x, box.y, text, ha="center", va="center", fontsize=8, bbox=style, zorder=3, parse_math=False)
    for each in box.below:
        arrow = {"arrowstyle": "-|>", "color": "#33658a", "shrinkA": 18, "shrinkB": 18}
        axes.annotate("", (box.x, box.y), (each.x, each.y), arrowprops=arrow, zorder=1)
        edge = "\n".join(wrap(each.said.edge, 44)[:4])
        place = (each.x + 0.03, each.y - 0.42)
        axes.text(*place, edge, ha="left", va="center", fontsize=6, color="#555555", parse_math=False)
        _draw(axes, each)
