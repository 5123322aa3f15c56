"""The output of `slackwater explain --rewrites`: the plan before and after, each rule that fired, and the savings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from slackwater.algebra.catalog import ViewDef
from slackwater.algebra.document import to_document
from slackwater.algebra.nodes import Plan, inputs
from slackwater.app.plans.optimise import optimise
from slackwater.app.render.label import label
from slackwater.app.render.tree import tree
from slackwater.rewrite import Firing
from slackwater.rewrite.cost import Workload, estimate

MEASURES = (
    ("rows evaluated per 1,000 rows in", "evaluated"),
    ("windows computed per 1,000 rows in", "windows"),
    ("rows held", "held"),
    ("values held", "values"),
)
PER_ROW = ("evaluated", "windows")
"""The measures that `estimate` returns per input row."""


FEW = 3
"""The largest number of operators that a step shows as one block before and one block after; more are interleaved."""


def report(plan: Plan, views: Iterable[ViewDef] = (), *, verbose: bool = False) -> RenderableType:
    """Return both plans as trees, and between them what each rule changed and why."""
    done = optimise(plan, views)
    if not done.steps:
        return Group(
            tree(plan, verbose=verbose),
            Text(),
            Text("No rule applies: the plan is run as it is written.", style="bold"),
        )
    parts: list[RenderableType] = [Text("before", style="bold"), tree(plan, verbose=verbose), Text()]
    for number, step in enumerate(done.steps, start=1):
        parts += [_step(number, step), Text()]
    after = tree(done.plan, verbose=verbose)
    return Group(*parts, Text("after", style="bold"), after, Text(), _savings(plan, done.plan))


def document(plan: Plan, views: Iterable[ViewDef] = ()) -> dict[str, Any]:
    """Return both plans, the steps and both estimates as data for JSON."""
    done = optimise(plan, views)
    return {
        "before": to_document(plan),
        "steps": [{"rule": step.rule, "why": step.why, "changed": list(diff_step(step))} for step in done.steps],
        "after": to_document(done.plan),
        "estimate": {when: _figures(each) for when, each in (("before", plan), ("after", done.plan))},
    }


def outline(plan: Plan, depth: int = 0) -> list[str]:
    """Return one line per operator, indented by its depth.

    >>> from slackwater.algebra.builder import scan
    >>> print(*outline(scan("Pulse").window(range="1 minute").plan)[:1])
    Window RANGE 1 minute
    """
    said = label(plan)
    line = f"{'  ' * depth}{said.name} {said.parameters}".rstrip()
    return [line, *(below for each in inputs(plan) for below in outline(each, depth + 1))]


def diff_step(step: Firing) -> Iterator[str]:
    """Return the operators that a rule removed (-) and added (+), with unchanged ones between them, as a diff."""
    before, after = outline(step.before), outline(step.after)
    plain = [line.strip() for line in before], [line.strip() for line in after]
    codes = SequenceMatcher(None, *plain, autojunk=False).get_opcodes()
    changes = [place for place, code in enumerate(codes) if code[0] != "equal"]
    codes = codes[changes[0] : changes[-1] + 1]
    if max(codes[-1][2] - codes[0][1], codes[-1][4] - codes[0][3]) <= FEW:
        codes = [("replace", codes[0][1], codes[-1][2], codes[0][3], codes[-1][4])]
    for kind, start, end, first, last in codes:
        if kind == "equal":
            yield from (f"  {line}" for line in after[first:last])
        else:
            yield from (f"- {line}" for line in before[start:end])
            yield from (f"+ {line}" for line in after[first:last])


def _step(number: int, step: Firing) -> Text:
    text = Text.assemble((f"{number}. {step.rule}", "bold cyan"), f": {step.why}")
    for line in diff_step(step):
        text.append(f"\n   {line}", style={"-": "red", "+": "green"}.get(line[0], "dim"))
    return text


def _savings(before: Plan, after: Plan) -> Group:
    assumed = Workload()
    streams = f"{assumed.rate:,.0f} rows a second of each stream, {assumed.parts:.0f} groups"
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("", "before", "after", "change"):
        table.add_column(heading, justify="right" if heading else "left")
    one, two = _figures(before), _figures(after)
    for measure, name in MEASURES:
        table.add_row(measure, _number(one[name]), _number(two[name]), _ratio(one[name], two[name]))
    return Group(Text(f"estimated for {streams}, conditions that keep a third of the rows", style="bold"), table)


def _figures(plan: Plan) -> dict[str, float]:
    figures = estimate(plan)
    return {name: getattr(figures, name) * (1_000 if name in PER_ROW else 1) for _, name in MEASURES}


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == 0 else f"{value:.3g}"


def _ratio(before: float, after: float) -> str:
    if before == after:
        return "as before"
    if after == 0:
        return "none left"
    return f"÷ {_number(before / after)}" if before > after else f"× {_number(after / before)}"
