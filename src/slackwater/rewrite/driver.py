"""Apply the rules until none fires, and record what each rule changed and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from slackwater.algebra.catalog import ViewDef
from slackwater.algebra.nodes import Plan, View, inputs, with_inputs
from slackwater.rewrite.change import Context, Rule
from slackwater.rewrite.rules import RULES

MOST_STEPS = 1_000
"""An upper bound on the steps, in case rules undo each other (`rules` shows that none does).

A plan that reaches it is still correct; a larger value would only delay the end of an endless rewrite.
"""


@dataclass(frozen=True, slots=True)
class Firing:
    """One application of a rule: the changed part of the plan, before and after."""

    rule: str
    why: str
    before: Plan
    after: Plan


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The rewritten plan, which yields the same rows, and the steps that led to it."""

    plan: Plan
    steps: tuple[Firing, ...]


def rewrite(plan: Plan, views: Iterable[ViewDef] = (), rules: Sequence[Rule] = RULES) -> Rewritten:
    """Return the plan after applying every rule that fires, the first of `rules` first.

    `views` are the registered queries that may answer this one, in the order of their declaration. The queries of the
    views are not rewritten here. The query of a view is not answered from itself, nor from a view declared later.
    """
    registered = tuple(takewhile(lambda view: view.query is not plan, views))
    steps: list[Firing] = []
    while len(steps) < MOST_STEPS and (fired := _first(rules, plan, registered)):
        plan, step = fired
        steps.append(step)
    return Rewritten(plan, tuple(steps))


def _first(rules: Sequence[Rule], plan: Plan, views: tuple[ViewDef, ...]) -> tuple[Plan, Firing] | None:
    fired = (_applied(rule, plan, Context(views=views)) for rule in rules)
    return next((each for each in fired if each), None)


def _applied(rule: Rule, plan: Plan, context: Context) -> tuple[Plan, Firing] | None:
    """Apply the rule at the topmost place where it fires; return the new plan and the step, or None."""
    if change := rule(plan, context):
        return change.plan, Firing(rule.__name__, change.why, plan, change.plan)
    if isinstance(plan, View):
        return None
    below = inputs(plan)
    for place, each in enumerate(below):
        if fired := _applied(rule, each, context.under(plan)):
            return with_inputs(plan, (*below[:place], fired[0], *below[place + 1 :])), fired[1]
    return None
