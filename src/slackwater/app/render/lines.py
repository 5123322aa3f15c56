"""Draw a small chart of lines over time as SVG, for notebooks and for the picture at the end of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape

WIDTH, HEIGHT = 430, 190
LEFT, RIGHT, TOP, BOTTOM = 52, 10, 40, 24
"""Pixels around the lines: value labels, margin, title and legend, time labels."""


@dataclass(frozen=True, slots=True)
class ChartLine:
    """Values over the times of a chart; a dashed line is a bound."""

    name: str
    values: Sequence[float]
    colour: str
    dashed: bool = False


def chart(title: str, times: Sequence[float], lines: Sequence[ChartLine], said: Callable[[float], str]) -> str:
    """Return the chart of these lines over times in ms; `said` formats a value on the axis."""
    shown = [value for line in lines for value in line.values]
    if len(times) < 2 or not shown:
        return f'<svg width="{WIDTH}" height="{HEIGHT}">{_text(8, 16, title, weight=600)}</svg>'
    low, high = min(0.0, *shown), max(*shown, 1e-9)
    across = [LEFT + (WIDTH - LEFT - RIGHT) * (each - times[0]) / max(1.0, times[-1] - times[0]) for each in times]

    def down(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / (high - low)

    parts = [_text(8, 16, title, weight=600), *_grid(low, high, down, said), *_times(times)]
    for number, line in enumerate(lines):
        path = " ".join(f"{x:.1f},{down(value):.1f}" for x, value in zip(across, line.values, strict=True))
        dash = ' stroke-dasharray="5 4"' if line.dashed else ""
        parts.append(f'<polyline points="{path}" fill="none" stroke="{line.colour}" stroke-width="1.6"{dash}/>')
        parts.append(_text(LEFT + 118 * number, 33, line.name, colour=line.colour))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="system-ui,DejaVu Sans,sans-serif">{"".join(parts)}</svg>'
    )


def _grid(low: float, high: float, down: Callable[[float], float], said: Callable[[float], str]) -> list[str]:
    levels = [low + (high - low) * share for share in (0.0, 0.5, 1.0)]
    lines = [
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{down(each):.1f}" y2="{down(each):.1f}" stroke="#8883"/>'
        for each in levels
    ]
    return lines + [_text(LEFT - 6, down(each) + 4, said(each), end=True) for each in levels]


def _times(times: Sequence[float]) -> list[str]:
    ends = [f"{datetime.fromtimestamp(each / 1_000, UTC):%H:%M:%S}" for each in (times[0], times[-1])]
    return [_text(LEFT, HEIGHT - 7, ends[0]), _text(WIDTH - RIGHT, HEIGHT - 7, f"{ends[1]} UTC", end=True)]


def _text(x: float, y: float, said: str, *, colour: str = "currentColor", weight: int = 400, end: bool = False) -> str:
    size, anchor = (13, "") if weight > 400 else (11, ' text-anchor="end"' if end else "")
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" fill="{colour}"{anchor}>'
        f"{escape(said)}</text>"
    )
