"""Draw a plan as an SVG picture for pages and notebooks: boxes from the sources at the top down to the sink.

Colours are CSS variables with the light theme as their default, so that the same picture works on a dark page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap
from typing import Any

from slackwater.algebra.nodes import Plan, inputs
from slackwater.app.render.label import parameters

WIDTH, HEIGHT, GAP_X, GAP_Y = 216, 52, 18, 34
"""Pixels of a box, and between two boxes."""
COLOURS = {
    "scan": ("--sw-blue", "#2f6fde"),
    "control": ("--sw-teal", "#0f8f8c"),
    "native": ("--sw-green", "#2c8f4e"),
    "fused": ("--sw-violet", "#8146c9"),
    "sink": ("--sw-muted", "#6b7480"),
}
"""The colour for each executor of an operator; see `placements`."""

ONE_FOR_EACH = ("Emit", "Project")
"""Operators that yield one row for each input row."""


@dataclass(frozen=True, slots=True)
class Node:
    """An operator of a drawn plan: its label, who runs it (empty if unknown), and its inputs."""

    name: str
    parameters: str
    by: str
    reads: tuple[int, ...]


def graph_of(plan: Plan, run_by: Sequence[str] = (), sink: str = "") -> dict[str, Any]:
    """Return a plan as a document to draw: its operators from the root, each with its inputs.

    `run_by` says who runs each operator, in the same order: the root, then each input with all operators below it.
    """
    nodes: list[dict[str, Any]] = []

    def visit(each: Plan) -> int:
        number = len(nodes)
        nodes.append({"name": type(each).__name__, "parameters": parameters(each), "by": "", "reads": []})
        nodes[number]["by"] = run_by[number] if number < len(run_by) else ""
        nodes[number]["reads"] = [visit(source) for source in inputs(each)]
        return number

    visit(plan)
    return {"nodes": nodes, "sink": sink}


def svg(graph: Mapping[str, Any], rates: Mapping[int, str] | None = None) -> str:
    """Return the picture of a graph; `rates` are written on the edges that leave the operators of these numbers."""
    nodes = [Node(each["name"], each["parameters"], each["by"], tuple(each["reads"])) for each in graph["nodes"]]
    if not nodes:
        return ""
    sink = graph.get("sink", "")
    places, columns = _places(nodes)
    depth = max(row for _, row in places) + (1 if sink else 0)
    spots = [(x * (WIDTH + GAP_X), (depth - (1 if sink else 0) - row) * (HEIGHT + GAP_Y)) for x, row in places]
    width, height = columns * (WIDTH + GAP_X) - GAP_X, depth * (HEIGHT + GAP_Y) + HEIGHT
    parts = [_edges(nodes, spots, rates or {}), *(_box(each, *spot) for each, spot in zip(nodes, spots, strict=True))]
    if sink:
        x, y = spots[0]
        parts.append(_arrow((x, y), (x, y + HEIGHT + GAP_Y), (rates or {}).get(0, "")))
        parts.append(_box(Node("Sink", sink, "sink", ()), x, y + HEIGHT + GAP_Y))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-2 -2 {width + 4} {height + 4}" width="{width + 4}" '
        f'style="max-width:100%;height:auto;font-family:system-ui,sans-serif" role="img" aria-label="query plan">'
        f"{''.join(parts)}</svg>"
    )


def _places(nodes: Sequence[Node]) -> tuple[list[tuple[float, int]], int]:
    """Return columns and rows, with the root in row 0: each operator is centred over its inputs."""
    places: list[tuple[float, int]] = [(0.0, 0)] * len(nodes)

    def place(number: int, left: int, row: int) -> int:
        free = left
        for each in nodes[number].reads:
            free = place(each, free, row + 1)
        below = [places[each][0] for each in nodes[number].reads]
        places[number] = (sum(below) / len(below) if below else float(left), row)
        return max(free, left + 1)

    return places, place(0, 0, 0)


def _edges(nodes: Sequence[Node], spots: Sequence[tuple[float, float]], rates: Mapping[int, str]) -> str:
    return "".join(
        _arrow(spots[source], spots[number], rates.get(source, ""))
        for number, node in enumerate(nodes)
        for source in node.reads
    )


def leaving(graph: Mapping[str, Any], streams: Mapping[str, tuple[float, float]], out: float) -> dict[int, float]:
    """Return the rows per second that leave each operator of a graph, as far as they are known.

    `streams` holds the rate of each stream and of its rows on time: the first leaves its scan, the second its control.
    `out` is the rate of the result, and of every operator at the top that yields one row for each.
    """
    nodes, found = graph["nodes"], {}
    for number, node in enumerate(nodes):
        scan = nodes[node["reads"][0]] if node["name"] == "Disorder" else node
        rates = streams.get(scan["parameters"].partition(" ")[0]) if scan["name"] == "Scan" else None
        if rates is not None:
            found[number] = rates[scan is not node]
    top = 0
    while top not in found:
        found[top] = out
        top = nodes[top]["reads"][0] if nodes[top]["name"] in ONE_FOR_EACH else 0
    return found


def _arrow(source: tuple[float, float], target: tuple[float, float], said: str) -> str:
    begin_x, begin_y = source[0] + WIDTH / 2, source[1] + HEIGHT
    end_x, end_y = target[0] + WIDTH / 2, target[1]
    middle = (begin_y + end_y) / 2
    line = "var(--sw-muted,#8a93a0)"
    path = f"M{begin_x},{begin_y} C{begin_x},{middle} {end_x},{middle} {end_x},{end_y - 5}"
    head = f"M{end_x - 4},{end_y - 7} L{end_x},{end_y - 1} L{end_x + 4},{end_y - 7} Z"
    text = f'<text x="{begin_x + 8}" y="{begin_y + GAP_Y / 2 + 4}" font-size="11" fill="{line}">{escape(said)}</text>'
    return f'<path d="{path}" fill="none" stroke="{line}" stroke-width="1.4"/><path d="{head}" fill="{line}"/>{text}'


def _box(node: Node, x: float, y: float) -> str:
    variable, light = COLOURS.get(node.by, ("--sw-blue", "#2f6fde"))
    colour = f"var({variable},{light})"
    lines = wrap(node.parameters, 33) or [""]
    shown = lines[:2] if len(lines) <= 2 else [lines[0], lines[1][:31] + " …"]
    texts = "".join(
        f'<text x="{x + 12}" y="{y + 32 + 13 * row}" font-size="10.5" fill="var(--sw-muted,#5b6470)">'
        f"{escape(line)}</text>"
        for row, line in enumerate(shown)
    )
    by = f'<text x="{x + WIDTH - 10}" y="{y + 17}" font-size="10" text-anchor="end" fill="{colour}">{node.by}</text>'
    return (
        f"<g><title>{escape(f'{node.name} {node.parameters}')}</title>"
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="5" fill="var(--sw-card,#ffffff)" '
        f'stroke="var(--sw-line,#d8dde3)"/><rect x="{x}" y="{y}" width="4" height="{HEIGHT}" rx="2" fill="{colour}"/>'
        f'<text x="{x + 12}" y="{y + 17}" font-size="12" font-weight="600" fill="var(--sw-text,#1c2126)">'
        f"{escape(node.name)}</text>{by if node.by and node.by != 'sink' else ''}{texts}</g>"
    )
