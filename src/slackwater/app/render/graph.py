"""Write a plan as a graph: Mermaid and Graphviz DOT. Arrows follow the rows, from scan to root."""

from __future__ import annotations

from html import escape

from slackwater.algebra.nodes import Plan, inputs
from slackwater.app.render.label import Label, label


def mermaid(plan: Plan) -> str:
    """Return a flowchart for Markdown viewers."""
    nodes, edges = _graph(plan)
    lines = ["flowchart BT"]
    lines += [f'    n{number}["<b>{said.name}</b> {_entities(said.parameters)}"]' for number, said in enumerate(nodes)]
    lines += [f'    n{source} -->|"{_entities(nodes[source].edge)}"| n{target}' for source, target in edges]
    return "\n".join(lines)


def dot(plan: Plan) -> str:
    """Return a digraph for Graphviz."""
    nodes, edges = _graph(plan)
    lines = ["digraph plan {", "    rankdir=BT;", "    node [shape=box, fontname=sans];"]
    lines += [
        f"    n{number} [label={_quoted(f'{said.name} {said.parameters}')}];" for number, said in enumerate(nodes)
    ]
    lines += [f"    n{source} -> n{target} [label={_quoted(nodes[source].edge)}];" for source, target in edges]
    return "\n".join([*lines, "}"])


def _graph(plan: Plan) -> tuple[list[Label], list[tuple[int, int]]]:
    nodes: list[Label] = []
    edges: list[tuple[int, int]] = []

    def visit(each: Plan) -> int:
        number = len(nodes)
        nodes.append(label(each))
        edges.extend((visit(source), number) for source in inputs(each))
        return number

    visit(plan)
    return nodes, edges


def _entities(text: str) -> str:
    return escape(text, quote=True).replace("`", "&#96;")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
