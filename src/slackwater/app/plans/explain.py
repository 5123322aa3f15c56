"""`slackwater explain`: what will be run, as a tree, a graph or a picture; before and after rewriting."""

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
from slackwater.app.plans.physical import physicals
from slackwater.app.render.graph import dot, mermaid
from slackwater.app.render.tree import tree
from slackwater.app.secrets import masked_errors
from slackwater.app.views import shared
from slackwater.errors import InputError
from slackwater.spark.run.physical import Physical
from slackwater.spark.run.views.sharing import Sharing


@dataclass(frozen=True, slots=True)
class Asked:
    """A plan to explain, and what of it is shown."""

    name: str
    plan: Plan
    what: Aspect


def asked(script: Script, least: Aspect = Aspect.PLAN) -> list[Asked]:
    """What there is to explain: pipelines and EXPLAIN statements, or, if there are none, the views.

    A command asks for `least` of all of them, a statement perhaps for more of its own query.
    """
    named = [Asked(each.name, each.plan, least) for each in script.pipelines]
    for number, each in enumerate(script.explains, start=1):
        named.append(Asked(f"EXPLAIN {number}", each.plan, max(each.what, least, key=list(Aspect).index)))
    named = named or [Asked(each.name, each.query, least) for each in script.views]
    if not named:
        raise InputError("SW-405", "there is no query to explain", hint="add an INSERT INTO, an EXPLAIN or a query")
    return named


def _aspect(rewritten: bool, physical: bool) -> Aspect:
    return Aspect.PHYSICAL if physical else Aspect.REWRITES if rewritten else Aspect.PLAN


def explained(
    script: Script, *, rewritten: bool = False, physical: bool = False, verbose: bool = False
) -> RenderableType:
    """Every plan of a script as a tree; with `rewritten`, what the optimiser makes of it and why; with `physical`,
    who runs each operator of that on Spark; `verbose` says what only the optimiser looks at, too."""
    sharing = shared(script)[0] if script.views else Sharing((), (), {})
    kept = Aspect.PHYSICAL if physical else Aspect.PLAN
    plans = asked(script, _aspect(rewritten, physical)) + [Asked(each.name, each.run, kept) for each in sharing.kept]
    placed = _placed(script, plans)
    parts: list[RenderableType] = []
    for each in plans:
        parts += [*_titled(each.name, sharing), _report(each, script, placed, verbose), Text()]
    return Group(*parts[:-1])


def _placed(script: Script, plans: Iterable[Asked]) -> dict[str, Physical]:
    """How those plans are run of which that is asked: only then is Spark opened."""
    wanted = [(each.name, each.plan) for each in plans if each.what is Aspect.PHYSICAL]
    with masked_errors(script):
        return physicals(script, wanted) if wanted else {}


def _report(asked: Asked, script: Script, placed: Mapping[str, Physical], verbose: bool) -> RenderableType:
    match asked.what:
        case Aspect.PLAN:
            return tree(asked.plan, verbose=verbose)
        case Aspect.REWRITES:
            return rewrites.report(asked.plan, script.views, verbose=verbose)
        case Aspect.PHYSICAL:
            return placement.report(script, placed[asked.name])


def _titled(name: str, sharing: Sharing) -> Iterator[Text]:
    """The name of a query, and which views it reads or computes."""
    yield Text(name, style="bold underline")
    if name in (each.name for each in sharing.kept):
        yield Text("kept by a query of its own: what it yields is read, not computed again", style="green")
    yield from (Text(each, style="green") for each in sharing.notes.get(name, ()))


def written(
    script: Script, form: Format, *, rewritten: bool = False, physical: bool = False, verbose: bool = False
) -> str:
    """Every plan of a script as text."""
    if form is Format.TEXT:
        return _plain(explained(script, rewritten=rewritten, physical=physical, verbose=verbose))
    least = _aspect(rewritten, physical)
    if form is Format.JSON:
        return json.dumps(_document(script, least), indent=2)
    draw = mermaid if form is Format.MERMAID else dot
    return "\n".join(draw(each[-1][1]) for each in _pictured(script, form, least))


def drawn(script: Script, form: Format, *, rewritten: bool = False, physical: bool = False) -> bytes:
    """Every plan of a script in one picture, side by side, each before and after if it is to be rewritten."""
    require("plot", ("matplotlib",), "a picture of a plan")
    from slackwater.app.render.picture import picture  # noqa: PLC0415 (it needs an extra)

    return picture(list(chain(*_pictured(script, form, _aspect(rewritten, physical)))), form.value)


def _document(script: Script, least: Aspect) -> dict[str, Any]:
    """What is asked of every plan, by name; or the script, which can be run, and what its EXPLAINs ask for."""
    if least is Aspect.PLAN and not script.explains:
        return document_of(script)
    plans = asked(script, least)
    if least is Aspect.PHYSICAL:
        plans += [Asked(each.name, each.run, least) for each in shared(script)[0].kept]
    placed = _placed(script, plans)
    told = {each.name: _told(each, script, placed) for each in plans}
    if least is not Aspect.PLAN:
        return told
    answers = [{"name": each.name, "what": each.what, **told[each.name]} for each in plans[len(script.pipelines) :]]
    return document_of(script) | {"explains": answers}


def _told(asked: Asked, script: Script, placed: Mapping[str, Physical]) -> dict[str, Any]:
    match asked.what:
        case Aspect.PLAN:
            return to_document(asked.plan)
        case Aspect.REWRITES:
            return rewrites.document(asked.plan, script.views)
        case Aspect.PHYSICAL:
            return placement.document(script, placed[asked.name])


def _pictured(script: Script, form: Format, least: Aspect) -> Iterator[list[tuple[str, Plan]]]:
    """For each plan what is drawn of it, under its name: as it is, or before and after."""
    for each in asked(script, least):
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
