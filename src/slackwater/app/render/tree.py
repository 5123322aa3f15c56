"""Show a plan as a tree in text: the root first, and below each operator the rows that leave it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from slackwater.algebra.nodes import Plan, inputs
from slackwater.app.render.label import label


def tree(plan: Plan, *, verbose: bool = False) -> Text:
    """Return the tree with styles for a terminal; `.plain` is the text. `verbose` shows all properties of an edge."""
    text = Text()
    for line in _lines(plan, "", "", verbose):
        text.append_text(line).append("\n")
    text.rstrip()
    return text


def _lines(plan: Plan, first: str, rest: str, verbose: bool) -> Iterator[Text]:
    said = label(plan, verbose=verbose)
    below = inputs(plan)
    yield Text.assemble((first, "dim"), (said.name, "bold cyan"), f" {said.parameters}" if said.parameters else "")
    yield Text.assemble((f"{rest}{'│' if below else ' '}    ", "dim"), (said.edge, "dim"))
    for position, each in enumerate(below, start=1):
        last = position == len(below)
        yield from _lines(each, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "), verbose)
