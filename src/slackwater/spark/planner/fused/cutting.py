"""Where a chain is cut into stages with buckets of their own, if no columns serve all of its steps.

That is on request: a second operator costs a batch more than it saves, until one core has too much to do for a whole
batch (docs/design/fused.md has the figures).

A stage runs in buckets by what its steps have in common; its answers go on to the buckets of the next. The last one may
have one bucket. Nothing is gained behind a stage that has itself only one: there the chain stays whole.

A chain is always cut where Spark has to compute a column between two of its steps. Its stages have the same buckets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from slackwater.engine.changelog.kernel import ChangelogKernel
from slackwater.engine.columns.rows import ROW_NUMBER, ordering
from slackwater.engine.columns.types import type_name
from slackwater.engine.compile import Border, compiled, not_in_one
from slackwater.engine.expressions.evaluate import marks_of
from slackwater.engine.plan import (
    ROW_WISE,
    AggregateStep,
    Boundaries,
    Chain,
    Compute,
    DistinctStep,
    EnginePlan,
    Node,
    Over,
    Source,
    Step,
    SubqueryStep,
    WindowStep,
    children,
    trees_of,
    walk,
    with_children,
)
from slackwater.spark.operator.kernel import RESULT
from slackwater.spark.planner.fused.partitioning import Partitioning, partitioning

CHAIN = "spark.slackwater.fused.chain"
"""The setting of a session by which plans are cut."""


@dataclass(frozen=True, slots=True)
class Stages:
    """How the stages of a chain are partitioned, and how many steps come before each but the first.

    `computed` has the expressions that Spark evaluates between stages.
    """

    each: tuple[Partitioning, ...]
    cuts: tuple[int, ...] = ()
    computed: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[tuple[str, ...], ...]:
        """By stage, the columns of its input that buckets are made of."""
        return tuple(stage.columns for stage in self.each)

    def __str__(self) -> str:
        if self.computed:
            between = f"Spark computes {', '.join(self.computed)} between them"
            return f"{len(self.cuts) + 1} operators, since {between}; each {self.each[0]}"
        if len(self.each) == 1:
            return f"one operator, {self.each[0]}"
        told = ", then ".join(map(str, self.each))
        return f"{len(self.each)} operators in a chain, since no column serves all steps: {told}"


def whole(chain: Chain) -> Stages:
    """As few stages as can be, whatever their steps need; and what else there could be."""
    if chain.computed:
        return _around_spark(chain)
    one, apart = partitioning(chain), stages(chain)
    if not apart.cuts:
        return apart
    return Stages((replace(one, reason=f"{one.reason}; SET {CHAIN} = true makes it {apart}"),))


def stages(chain: Chain) -> Stages:
    """The stages of a chain: as few as possible, each as long as possible."""
    if chain.computed:
        return _around_spark(chain)
    one = partitioning(chain)
    if one.columns or len(chain.steps) < 2:
        return Stages((one,))
    why = ""
    for border in reversed(compiled(chain, ordered=True).borders[:-1]):
        first = partitioning(replace(chain, steps=chain.steps[: border.steps]))
        if not first.columns:
            continue
        why = _obstacle(border, chain.steps[border.steps :])
        if not why:
            rest = stages(_after(chain, border))
            cuts = (border.steps, *(border.steps + cut for cut in rest.cuts))
            return Stages((first, *rest.each), cuts)
    return Stages((replace(one, reason=f"{one.reason}; no chain of operators, since {why}") if why else one,))


def _around_spark(chain: Chain) -> Stages:
    """The stages before and after what Spark computes; an error where that is between a window and its aggregate."""
    for place in chain.computed:
        before = [step for step in chain.steps[:place] if not isinstance(step, ROW_WISE)]
        after = [step for step in chain.steps[place:] if not isinstance(step, ROW_WISE)]
        if (
            before
            and isinstance(before[-1], WindowStep)
            and after
            and isinstance(after[0], AggregateStep | DistinctStep)
        ):
            raise not_in_one(step for step in chain.steps if isinstance(step, Compute))
    items = [step for step in chain.steps if isinstance(step, Compute)]
    return Stages((partitioning(chain),), chain.computed, texts(items))


def texts(steps: Iterable[Compute]) -> tuple[str, ...]:
    """The expressions that Spark evaluates in these steps."""
    return tuple(dict.fromkeys(item.tree[1] for step in steps for item in step.items))


def computes(plan: EnginePlan | Boundaries) -> list[Compute]:
    """The steps of a changelog's tree that are Spark's, from the innermost on."""
    if isinstance(plan, Boundaries):
        return []
    steps = [node.step for node in walk(plan.root) if isinstance(node, Over)]
    return [step for step in reversed(steps) if isinstance(step, Compute)]


def first_cut(plan: EnginePlan | Boundaries) -> Over | None:
    """The lowest operator of a changelog's tree whose columns Spark computes; None if there is none.

    The tree is cut there. All its streams stand below, and no tuple waits there for the end of a slot of time, since
    the operators above would not know how far time has come.
    """
    asked = computes(plan)
    if isinstance(plan, Boundaries) or not asked:
        return None
    node = plan.root
    while len(below := children(node)) == 1 and not (isinstance(node, Over) and node.step is asked[0]):
        node = below[0]
    if (
        not isinstance(node, Over)
        or any(each.change_type for each in plan.inputs.values())
        or ChangelogKernel(replace(plan, root=node.child)).operators.slotted
    ):
        raise not_in_one(asked)
    return node


def above(node: Node, cut: Over) -> Node:
    """The operators above a cut, which read the changelog from there as an input."""
    return (
        Source(cut.edge, RESULT) if node is cut else with_children(node, *(above(each, cut) for each in children(node)))
    )


def _obstacle(border: Border, rest: Sequence[Step]) -> str:
    """Why the rest cannot do with rows alone, in an order that is known; empty if it can."""
    for step in rest:
        if isinstance(step, SubqueryStep):
            break
        if isinstance(step, DistinctStep):
            return "DISTINCT compares the rows of one instant"
        if any(ROW_NUMBER in marks_of(tree) for tree in trees_of(step)):
            return "row_number counts the rows of all buckets"
    return "" if ordering(border.sample) else "the order of what the buckets would yield at one time is not known"


def _after(chain: Chain, border: Border) -> Chain:
    """The rest as a chain over what the stage yields."""
    columns = tuple((field.name, type_name(field.type)) for field in border.sample.batch.schema)
    return replace(chain, input=replace(chain.input, columns=columns), steps=chain.steps[border.steps :])
