"""`sw.explain` and `sw.run`: the commands for those who write Python."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from slackwater.algebra.bind import bind
from slackwater.algebra.builder import Query
from slackwater.algebra.catalog import Pipeline, Script
from slackwater.algebra.checks import check
from slackwater.algebra.document import from_document
from slackwater.algebra.nodes import Plan
from slackwater.app.documents import SHOWN, script_of
from slackwater.app.explain import written
from slackwater.app.formats import Format
from slackwater.app.load import load
from slackwater.app.options import parse_folder
from slackwater.app.run import Conditions
from slackwater.app.run import run as run_script
from slackwater.app.watch import Watch
from slackwater.lang import parse_script

Given = str | Path | Query | Mapping[str, Any]
"""SQL text, the path of a SQL or JSON file, a query of the builder, or a plan document."""


def explain(
    given: Given, declarations: str = "", *, rewrites: bool = False, physical: bool = False, format: str = "text"
) -> str:
    """The plan as text; `declarations` are the CREATE STREAM statements that a plan without text needs."""
    return written(script_from(given, declarations), Format(format), rewritten=rewrites, physical=physical)


def run(given: Given, declarations: str = "", *, checkpoint: str | Path, **conditions: Any) -> None:
    """Runs it as `slackwater run` does; `conditions` are those of the command: master, available_now, seconds."""
    run_script(
        script_from(given, declarations), Conditions(parse_folder(str(checkpoint)), **conditions), Watch(Console())
    )


def script_from(given: Given, declarations: str = "") -> Script:
    """What was given as a script, bound and checked."""
    if isinstance(given, Path):
        return load(given)
    declared = parse_script(declarations) if declarations.strip() else Script()
    if isinstance(given, str):
        return parse_script("\n".join([declarations, given]))
    if isinstance(given, Query):
        return _with_plan(declared, given.plan)
    return script_of(given) if "streams" in given else _with_plan(declared, from_document(given))


def _with_plan(declared: Script, plan: Plan) -> Script:
    """The plan as a pipeline into the one sink that is declared, or shown."""
    bound = check(bind(plan, declared.catalog.fill))
    sink = declared.sinks[0] if len(declared.sinks) == 1 else None
    pipeline = Pipeline(sink.name if sink else SHOWN, sink, bound)
    return Script(declared.streams, declared.views, declared.sinks, (*declared.pipelines, pipeline))
