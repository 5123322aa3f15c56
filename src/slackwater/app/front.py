"""`sw.explain` and `sw.run`: the commands for those who write Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, overload

from rich.console import Console

from slackwater.algebra.bind import bind
from slackwater.algebra.builder import Query
from slackwater.algebra.catalog import Pipeline, Script
from slackwater.algebra.checks import check
from slackwater.algebra.document import from_document
from slackwater.algebra.nodes import Plan
from slackwater.app.advise import Advice, AdviseRequest
from slackwater.app.advise import advise as advise_on
from slackwater.app.live.notebook import Explained, Picture
from slackwater.app.live.watch import Watch
from slackwater.app.load import load
from slackwater.app.options import parse_batch, parse_folder, parse_format, parse_share, parse_unit
from slackwater.app.plans.documents import SHOWN, script_of
from slackwater.app.plans.explain import draw_plans, plans_to_explain, write_plans
from slackwater.app.plans.formats import Format
from slackwater.app.run import Conditions
from slackwater.app.run import run as run_script
from slackwater.lang import parse_script

Given = str | Path | Query | Mapping[str, Any]
"""SQL text, the path of a SQL or JSON file, a query of the builder, or a plan document."""


@overload
def explain(
    given: Given,
    declarations: str = ...,
    *,
    rewrites: bool = ...,
    physical: bool = ...,
    format: Literal["text", "json", "mermaid", "dot"] = ...,
) -> str: ...


@overload
def explain(
    given: Given,
    declarations: str = ...,
    *,
    rewrites: bool = ...,
    physical: bool = ...,
    format: Literal["svg", "png"],
) -> bytes: ...


def explain(
    given: Given, declarations: str = "", *, rewrites: bool = False, physical: bool = False, format: str = "text"
) -> str | bytes:
    """Return the plan of a query as text, as a document or as a picture.

    Parameters
    ----------
    given
        SQL text, the `Path` of a SQL or JSON file, a query of the builder, or a plan document.
    declarations
        The CREATE STREAM statements that a plan without text needs.
    rewrites
        Whether to show what the optimiser changes.
    physical
        Whether to show which operator runs each part on Spark, and why.
    format
        `"text"`, `"json"`, `"mermaid"`, `"dot"`, `"svg"` or `"png"`.

    Returns
    -------
    str or bytes
        The bytes of a file for `svg` and `png`. A notebook draws the plan.

    Examples
    --------
    plan = sw.explain(
        "SELECT MAX(v) AS top FROM S [RANGE 1 minute SLIDE 1 minute]",
        "CREATE STREAM S (v INT, ts TIMESTAMP) USING rate TIMESTAMP BY ts;",
    )
    assert "DRATIO 0.1%" in plan
    """
    form, script = parse_format(format), script_from(given, declarations)
    if form.is_picture:
        return Picture(draw_plans(script, form, rewritten=rewrites, physical=physical))
    text = write_plans(script, form, rewritten=rewrites, physical=physical)
    return (
        Explained(text, [(each.name, each.plan) for each in plans_to_explain(script)]) if form is Format.TEXT else text
    )


def run(given: Given, declarations: str = "", *, checkpoint: str | Path, **conditions: Any) -> None:
    """Run every INSERT of a script until it ends or is interrupted, as `slackwater run` does.

    Parameters
    ----------
    given
        SQL text, the `Path` of a SQL or JSON file, a query of the builder, or a plan document.
    declarations
        The CREATE STREAM statements that a plan without text needs.
    checkpoint
        The folder in which the queries keep their place: a path, or the address of a store.
    **conditions
        Options of the command: `master`, `available_now`, `flush`, `seconds`.

    Examples
    --------
    # sw.run(Path("traffic.sql"), checkpoint="traffic.checkpoint", seconds=20.0)
    """
    run_script(
        script_from(given, declarations), Conditions(parse_folder(str(checkpoint)), **conditions), Watch(Console())
    )


def advise(
    trace: str | Path,
    *,
    event: str,
    arrival: str,
    source: str | None = None,
    dratio: str | float = "1%",
    unit: str = "auto",
    batch: str = "1 second",
) -> Advice:
    """Return how long a watermark should be for a recorded stream, as `slackwater advise` says it.

    Parameters
    ----------
    trace
        A file or a folder: CSV (also .gz), Parquet or JSON lines.
    event, arrival
        The columns with the event time and the arrival time.
    source
        The column that names the sender.
    dratio
        The share of rows that may be late.
    unit
        Of times that are numbers: `"s"`, `"ms"`, `"us"` or `"auto"`.
    batch
        The length of a micro-batch: `"1 second"` of arrivals, or `"500 rows"`.

    Returns
    -------
    Advice
        `sentence` sums it up; `lines` has the late share and the hold of every estimator. A notebook shows a table.

    Examples
    --------
    trace = Path(mkdtemp()) / "trace.csv"
    lines = [f"{n * 10},{n * 10 + n * 7919 % 400}" for n in range(2_000)]
    trace.write_text("event_ms,arrival_ms\\n" + "\\n".join(lines))
    print(sw.advise(trace, event="event_ms", arrival="arrival_ms", dratio="1%").sentence)
    """
    share = parse_share(str(dratio))
    return advise_on(AdviseRequest(Path(trace), event, arrival, source, share, parse_unit(unit), parse_batch(batch)))


def script_from(given: Given, declarations: str = "") -> Script:
    """Return the script of a SQL text, a file, a query of the builder or a plan document, bound and checked."""
    if isinstance(given, Path):
        return load(given)
    declared = parse_script(declarations) if declarations.strip() else Script()
    if isinstance(given, str):
        return parse_script("\n".join([declarations, given]))
    if isinstance(given, Query):
        return _with_plan(declared, given.plan)
    return script_of(given) if "streams" in given else _with_plan(declared, from_document(given))


def _with_plan(declared: Script, plan: Plan) -> Script:
    """Return the declarations with the plan as a pipeline: into the sink if one is declared, else onto the console."""
    bound = check(bind(plan, declared.catalog.fill))
    sink = declared.sinks[0] if len(declared.sinks) == 1 else None
    pipeline = Pipeline(sink.name if sink else SHOWN, sink, bound)
    return replace(declared, pipelines=(*declared.pipelines, pipeline))
