"""`slackwater explain`: what will be run, as a tree, a graph or a picture."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum

from rich.console import Group, RenderableType
from rich.text import Text

from slackwater.algebra.catalog import Script
from slackwater.algebra.nodes import Plan
from slackwater.app.documents import document_of
from slackwater.app.render.graph import dot, mermaid
from slackwater.app.render.picture import picture
from slackwater.app.render.tree import tree
from slackwater.errors import InputError


class Format(StrEnum):
    TEXT = "text"
    JSON = "json"
    MERMAID = "mermaid"
    DOT = "dot"
    SVG = "svg"
    PNG = "png"

    @property
    def is_picture(self) -> bool:
        return self in (Format.SVG, Format.PNG)


def plans_of(script: Script) -> Sequence[tuple[str, Plan]]:
    """What there is to explain: pipelines and EXPLAIN statements, or, if there are none, the views."""
    named = [(each.name, each.plan) for each in script.pipelines]
    named += [(f"EXPLAIN {number}", each.plan) for number, each in enumerate(script.explains, start=1)]
    named = named or [(each.name, each.query) for each in script.views]
    if not named:
        raise InputError("SW-405", "there is no query to explain", hint="add an INSERT INTO, an EXPLAIN or a query")
    return named


def explained(script: Script) -> RenderableType:
    """Every plan of a script as a tree."""
    parts: list[RenderableType] = []
    for name, plan in plans_of(script):
        parts += [Text(name, style="bold"), tree(plan), Text()]
    return Group(*parts[:-1])


def written(script: Script, form: Format) -> str:
    """Every plan of a script as text."""
    if form is Format.JSON:
        return json.dumps(document_of(script), indent=2)
    if form is Format.TEXT:
        return "\n\n".join(f"{name}\n{tree(plan).plain}" for name, plan in plans_of(script))
    draw = mermaid if form is Format.MERMAID else dot
    return "\n".join(draw(plan) for _, plan in plans_of(script))


def drawn(script: Script, form: Format) -> bytes:
    """Every plan of a script in one picture, side by side."""
    return picture(plans_of(script), form.value)
