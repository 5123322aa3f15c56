"""`slackwater explain`: the plans of a script as a tree, a graph or a picture; before and after rewriting."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from slackwater.algebra.catalog import Aspect, Script
from slackwater.algebra.document import to_document
from slackwater.algebra.nodes import Plan
from slackwater.app.extras import require
from slackwater.app.plans import physical as placement
from slackwater.app.plans import rewrites
from slackwater.app.plans.documents import document_of
from slackwater.app.plans.formats import Format
from slackwater.app.plans.optimise import optimise
from slackwater.app.plans.physical import place_plans
from slackwater.app.render.graph import dot, mermaid
from slackwater.app.render.tree import tree
from slackwater.app.secrets import mask_errors
from slackwater.app.views import share_views
from slackwater.errors import InputError
from slackwater.spark.run.physical import Physical
from slackwater.spark.run.views.sharing import Sharing


@dataclass(frozen=True, slots=True)
class ToExplain:
    """A plan to explain, and the aspect to show: the plan, its rewrites, or its physical plan."""

    name: str
    plan: Plan
    what: Aspect


def plans_to_explain(script: Script, least: Aspect = Aspect.PLAN) -> list[ToExplain]:
    """Return the plans of all pipelines and EXPLAIN statements, or, if there are none, those of the views.

    Each is explained up to the aspect `least`, which the command asks for. An EXPLAIN statement can ask for more.
    """
    named = [ToExplain(each.name, each.plan, least) for each in script.pipelines]
    for number, each in enumerate(script.explains, start=1):
        named.append(ToExplain(f"EXPLAIN {number}", each.plan, max(each.what, least, key=list(Aspect).index)))
    named = named or [ToExplain(each.name, each.query, least) for each in script.views]
    if not named:
        raise InputError("SW-405", "there is no query to explain", hint="add an INSERT INTO, an EXPLAIN or a query")
    return named


def _aspect(rewritten: bool, physical: bool) -> Aspect:
    return Aspect.PHYSICAL if physical else Aspect.REWRITES if rewritten else Aspect.PLAN


def render_plans(
    script: Script, *, rewritten: bool = False, physical: bool = False, verbose: bool = False
) -> RenderableType:
    """Return every plan of a script as a tree.

    With `rewritten`, also show each rewrite and its reason; with `physical`, show which operator of Spark or ours
    runs each part of the rewritten plan. `verbose` adds parameters that only the optimiser reads.
    """
    sharing = share_views(script)[0] if script.views else Sharing((), (), {})
    kept = Aspect.PHYSICAL if physical else Aspect.PLAN
    plans = plans_to_explain(script, _aspect(rewritten, physical)) + [
        ToExplain(each.name, each.run, kept) for each in sharing.kept
    ]
    placed = _place(script, plans)
    parts: list[RenderableType] = []
    for each in plans:
        parts += [*_title(each.name, sharing), _report(each, script, placed, verbose), Text()]
    return Group(*parts[:-1])


def _place(script: Script, plans: Iterable[ToExplain]) -> dict[str, Physical]:
    """Return the physical plan of each plan that needs one, by name. Spark starts only if one is needed."""
    wanted = [(each.name, each.plan) for each in plans if each.what is Aspect.PHYSICAL]
    with mask_errors(script):
        return place_plans(script, wanted) if wanted else {}


def _report(asked: ToExplain, script: Script, placed: Mapping[str, Physical], verbose: bool) -> RenderableType:
    match asked.what:
        case Aspect.PLAN:
            return tree(asked.plan, verbose=verbose)
        case Aspect.REWRITES:
            return rewrites.report(asked.plan, script.views, verbose=verbose)
        case Aspect.PHYSICAL:
            return placement.report(script, placed[asked.name])


def _title(name: str, sharing: Sharing) -> Iterator[Text]:
    """Return the title of a query: its name, and notes on the views that it reads or keeps."""
    yield Text(name, style="bold underline")
    if name in (each.name for each in sharing.kept):
        yield Text("kept by a query of its own: what it yields is read, not computed again", style="green")
    yield from (Text(each, style="green") for each in sharing.notes.get(name, ()))


def write_plans(
    script: Script, form: Format, *, rewritten: bool = False, physical: bool = False, verbose: bool = False
) -> str:
    """Return every plan of a script in a text format."""
    if form is Format.TEXT:
        return _plain(render_plans(script, rewritten=rewritten, physical=physical, verbose=verbose))
    least = _aspect(rewritten, physical)
    if form is Format.JSON:
        return json.dumps(_document(script, least), indent=2)
    draw = mermaid if form is Format.MERMAID else dot
    return "\n".join(draw(each[-1][1]) for each in _plans_to_draw(script, form, least))


def draw_plans(script: Script, form: Format, *, rewritten: bool = False, physical: bool = False) -> bytes:
    """Draw every plan of a script side by side in one picture; with `rewritten`, each before and after rewriting."""
    require("plot", ("matplotlib",), "a picture of a plan")
    from slackwater.app.render.picture import picture  # noqa: PLC0415 (it needs an extra)

    return picture(list(chain(*_plans_to_draw(script, form, _aspect(rewritten, physical)))), form.value)


def _document(script: Script, least: Aspect) -> dict[str, Any]:
    """Return the script as a document that can be run, with the answers to its EXPLAIN statements.

    If the command asks for rewrites or physical plans, return these instead, by the names of the plans.
    """
    if least is Aspect.PLAN and not script.explains:
        return document_of(script)
    plans = plans_to_explain(script, least)
    if least is Aspect.PHYSICAL:
        plans += [ToExplain(each.name, each.run, least) for each in share_views(script)[0].kept]
    placed = _place(script, plans)
    told = {each.name: _part_document(each, script, placed) for each in plans}
    if least is not Aspect.PLAN:
        return told
    answers = [{"name": each.name, "what": each.what, **told[each.name]} for each in plans[len(script.pipelines) :]]
    return document_of(script) | {"explains": answers}


def _part_document(asked: ToExplain, script: Script, placed: Mapping[str, Physical]) -> dict[str, Any]:
    match asked.what:
        case Aspect.PLAN:
            return to_document(asked.plan)
        case Aspect.REWRITES:
            return rewrites.document(asked.plan, script.views)
        case Aspect.PHYSICAL:
            return placement.document(script, placed[asked.name])


def _plans_to_draw(script: Script, form: Format, least: Aspect) -> Iterator[list[tuple[str, Plan]]]:
    """Return for each plan the titled plans to draw: the plan alone, or the plan before and after rewriting."""
    for each in plans_to_explain(script, least):
        match each.what:
            case Aspect.PLAN:
                yield [(each.name, each.plan)]
            case Aspect.REWRITES:
                after = optimise(each.plan, script.views).plan
                yield [(f"{each.name}, before", each.plan), (f"{each.name}, after", after)]
            case Aspect.PHYSICAL:
                raise InputError(
                    "SW-417",
                    f"there is no {form} of a physical plan",
                    expected="a physical plan as text or json",
                    hint="leave out --physical and EXPLAIN PHYSICAL, or write --format json",
                )


def _plain(renderable: RenderableType) -> str:
    console = Console(soft_wrap=True, highlight=False, no_color=True, width=120, force_terminal=False)
    with console.capture() as captured:
        console.print(renderable)
    return captured.get().rstrip()
