"""Where a chain is cut into stages with buckets of their own, if no columns serve all of its steps.

That is on request: a second operator costs a batch more than it saves, until one core has too much to do for a whole
batch (docs/design/fused.md has the figures).

A stage runs in buckets by what its steps have in common; its answers go on to the buckets of the next. The last one may
have one bucket. Nothing is gained behind a stage that has itself only one: there the chain stays whole.

A chain is always cut where Spark has to compute a column between two of its steps. Its stages have the same buckets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from slackwater.engine.changelog.log import IDENTITY
from slackwater.engine.columns.rows import ROW_NUMBER, ordering
from slackwater.engine.columns.types import type_name
from slackwater.engine.compile import Border, compiled, not_in_one
from slackwater.engine.expressions.evaluate import marks_of
from slackwater.engine.plan import (
    ROW_WISE,
    AggregateStep,
    Chain,
    Chained,
    Compute,
    DistinctStep,
    Edge,
    EnginePlan,
    Input,
    Node,
    Over,
    Source,
    Step,
    SubqueryStep,
    WindowStep,
    children,
    meeting_of,
    slots_of,
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


def computes(plan: EnginePlan) -> list[Compute]:
    """The steps of a changelog's tree that are Spark's, from the innermost on."""
    steps = [node.step for node in walk(plan.root) if isinstance(node, Over)]
    return [step for step in reversed(steps) if isinstance(step, Compute)]


def part(plan: EnginePlan, root: Node, handed: Callable[[str, Compute, Node], Input]) -> EnginePlan:
    """The operators from a root of a changelog's tree down to the columns that Spark computes: one operator of Spark's.

    What stands below such columns is another one. `handed` returns the input of a name that has them. Streams
    are read by each operator that needs them.
    """
    inputs: dict[str, Input] = {}

    def cut(node: Node) -> Node:
        if not isinstance(node, Over) or not isinstance(node.step, Compute):
            return with_children(node, *map(cut, children(node)))
        name = f"{RESULT}.{len(inputs)}"
        inputs[name] = handed(name, node.step, node.child)
        return Source(node.edge, name)

    made, *beside = map(cut, (root, *_beside(plan, root)))
    read = {node.input for tree in (made, *beside) for node in walk(tree) if isinstance(node, Source | Chained)}
    streams = {name: given for name, given in plan.inputs.items() if name in read}
    return EnginePlan({**streams, **inputs}, made, tuple(beside))


def _beside(plan: EnginePlan, root: Node) -> list[Node]:
    """What an operator must know besides its tree: the other windows of its meetings; with the result, refused rows."""
    own = list(_uncut(root))
    meetings = {meeting_of(node) for node in own} - {None}
    met = [node for node in walk(plan.root) if meeting_of(node) in meetings and all(node is not each for each in own)]
    read = {node.input for node in own if isinstance(node, Source)}
    edited = [name for name, given in plan.inputs.items() if given.change_type and name not in read]
    return [*met, *(Source(Edge(4), name) for name in edited if root is plan.root)]


def _uncut(node: Node) -> Iterator[Node]:
    """The operators from a node down to the columns that Spark computes."""
    yield node
    if not isinstance(node, Over) or not isinstance(node.step, Compute):
        for each in children(node):
            yield from _uncut(each)


def handed_input(columns: Sequence[tuple[str, str]], below: EnginePlan) -> Input:
    """The input with these columns that another operator hands on."""
    ids = sum(name.startswith(IDENTITY) for name, _ in columns)
    return Input(tuple(columns), "", ids=ids, slots=slots_of(below.root, below.inputs))


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
