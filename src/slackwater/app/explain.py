"""`slackwater explain`: what will be run, as a tree, a graph or a picture; before and after rewriting."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from rich.console import Console, Group, RenderableType
from rich.text import Text

from slackwater.algebra.catalog import Script
from slackwater.algebra.nodes import Plan
from slackwater.app import physical as placement
from slackwater.app import rewrites
from slackwater.app.documents import document_of
from slackwater.app.formats import Format
from slackwater.app.physical import physicals
from slackwater.app.render.graph import dot, mermaid
from slackwater.app.render.picture import picture
from slackwater.app.render.tree import tree
from slackwater.app.views import shared
from slackwater.errors import InputError
from slackwater.rewrite import rewrite
from slackwater.spark.views.sharing import Sharing


def plans_of(script: Script) -> Sequence[tuple[str, Plan]]:
    """What there is to explain: pipelines and EXPLAIN statements, or, if there are none, the views."""
    named = [(each.name, each.plan) for each in script.pipelines]
    named += [(f"EXPLAIN {number}", each.plan) for number, each in enumerate(script.explains, start=1)]
    named = named or [(each.name, each.query) for each in script.views]
    if not named:
        raise InputError("SW-405", "there is no query to explain", hint="add an INSERT INTO, an EXPLAIN or a query")
    return named


def explained(script: Script, *, rewritten: bool = False, physical: bool = False) -> RenderableType:
    """Every plan of a script as a tree; with `rewritten`, what the optimiser makes of it and why; with `physical`,
    who runs each operator of that on Spark."""
    if physical:
        return Group(*_physical(script))
    parts: list[RenderableType] = []
    sharing = shared(script)[0] if script.views else Sharing((), (), {})
    for name, plan in plans_of(script):
        shown = rewrites.report(plan, script.views) if rewritten else tree(plan)
        parts += [*_titled(name, sharing), shown, Text()]
    for each in sharing.kept:
        parts += [*_titled(each.name, sharing), tree(each.run), Text()]
    return Group(*parts[:-1])


def _titled(name: str, sharing: Sharing) -> Iterator[Text]:
    """The name of a query, and which views it reads or computes."""
    yield Text(name, style="bold underline")
    if name in (each.name for each in sharing.kept):
        yield Text("kept by a query of its own: what it yields is read, not computed again", style="green")
    yield from (Text(each, style="green") for each in sharing.notes.get(name, ()))


def written(script: Script, form: Format, *, rewritten: bool = False, physical: bool = False) -> str:
    """Every plan of a script as text."""
    if form is Format.TEXT:
        return _plain(explained(script, rewritten=rewritten, physical=physical))
    if form is Format.JSON and physical:
        shown = physicals(script, plans_of(script))
        return json.dumps({name: placement.document(script, each) for name, each in shown.items()}, indent=2)
    if form is Format.JSON:
        reports = {name: rewrites.document(plan, script.views) for name, plan in plans_of(script)} if rewritten else {}
        return json.dumps(reports or document_of(script), indent=2)
    if physical:
        raise _no_picture(form)
    draw = mermaid if form is Format.MERMAID else dot
    plans = [rewrite(plan, script.views).plan if rewritten else plan for _, plan in plans_of(script)]
    return "\n".join(map(draw, plans))


def drawn(script: Script, form: Format, *, rewritten: bool = False, physical: bool = False) -> bytes:
    """Every plan of a script in one picture, side by side, each before and after if it is to be rewritten."""
    if physical:
        raise _no_picture(form)
    plans = plans_of(script)
    if rewritten:
        pairs = [
            ((f"{name}, before", plan), (f"{name}, after", rewrite(plan, script.views).plan)) for name, plan in plans
        ]
        plans = [each for pair in pairs for each in pair]
    return picture(plans, form.value)


def _no_picture(form: Format) -> InputError:
    return InputError(
        "SW-417",
        f"there is no {form} of a physical plan",
        expected="--physical as text or json",
        hint="leave out --physical, or write --format json",
    )


def _physical(script: Script) -> Iterator[RenderableType]:
    sharing, _ = shared(script)
    for name, shown in physicals(script, plans_of(script)).items():
        yield from _titled(name, sharing)
        yield placement.report(script, shown)


def _plain(renderable: RenderableType) -> str:
    console = Console(soft_wrap=True, highlight=False, no_color=True, width=120, force_terminal=False)
    with console.capture() as captured:
        console.print(renderable)
    return captured.get().rstrip()
