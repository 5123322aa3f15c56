"""The output of `slackwater explain --physical`: who runs each operator, why, and Spark's own plan."""

from __future__ import annotations

from collections.abc import Iterable
from tempfile import TemporaryDirectory
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from slackwater.algebra.catalog import Pipeline, Script
from slackwater.algebra.nodes import Plan, Scan, walk
from slackwater.app.plans.optimise import optimise
from slackwater.app.render.label import label
from slackwater.app.secrets import mask_secrets
from slackwater.app.views import share_views
from slackwater.errors import found_in
from slackwater.spark.io.streams import read_stream
from slackwater.spark.run.physical import Physical, Placement, physical, physical_beside
from slackwater.spark.run.sides import beside
from slackwater.spark.run.views.plans import log_name
from slackwater.spark.run.views.view_log import read_log
from slackwater.spark.session import local_session
from slackwater.spark.store import Location

STYLES = {"fused": "magenta", "native": "green", "control": "cyan", "scan": "blue"}


def place_plans(script: Script, plans: Iterable[tuple[str, Plan]]) -> dict[str, Physical]:
    """Return the physical plan of each plan, optimised as by `run`. Sources are opened, but no query is started."""
    session = local_session(options=script.settings, brief=True)
    sharing, _ = share_views(script)
    run = {each.name: each.plan for each in sharing.pipelines} | {each.name: each.run for each in sharing.kept}
    found = {}
    with TemporaryDirectory() as empty:
        logs = {log_name(each.view.name): read_log(session, Location(empty), each.plan) for each in sharing.kept}
        for name, plan in plans:
            mine = Pipeline(name, None, run.get(name) or optimise(plan, script.views).plan)
            entry = None if name in run else beside(mine, sharing.pipelines)
            read = {node.stream for node in walk(entry.pipeline.plan if entry else mine.plan) if isinstance(node, Scan)}
            frames = {each.name: read_stream(session, each) for each in script.streams if each.name in read}
            with found_in(f"the query '{name}'"):
                found[name] = physical_beside(entry, mine, frames) if entry else physical(mine.plan, frames | logs)
    return found


def report(script: Script, shown: Physical) -> RenderableType:
    """Return a physical plan for people: the operators as a table, then Spark's plan."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("operator", "run by", "how"):
        table.add_column(heading, overflow="fold")
    for each in shown.operators:
        table.add_row(Text(_outline(each)), Text(each.where, STYLES.get(each.where, "")), Text(each.how))
    who = Text.assemble((str(shown.host), "bold " + STYLES[shown.host]), f": {shown.reason}")
    return Group(who, Text(), table, Text("Spark's plan", "bold"), Text(mask_secrets(script, shown.spark)))


def document(script: Script, shown: Physical) -> dict[str, Any]:
    """Return a physical plan as data for JSON."""
    operators = [
        {"operator": label(each.node).name, "parameters": label(each.node).parameters}
        | {"depth": each.depth, "run_by": each.where, "how": each.how}
        for each in shown.operators
    ]
    return {"host": str(shown.host), "reason": shown.reason, "operators": operators} | {
        "spark": mask_secrets(script, shown.spark)
    }


def _outline(each: Placement) -> str:
    said = label(each.node)
    return f"{'  ' * each.depth}{said.name} {said.parameters}".rstrip()
