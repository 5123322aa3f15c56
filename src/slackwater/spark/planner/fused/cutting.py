"""Where a chain is cut into stages with buckets of their own, if no columns serve all of its steps.

That is on request: a second operator costs a batch more than it saves, until one core has too much to do for a whole
batch (docs/design/fused.md has the figures).

A stage runs in buckets by what its steps have in common; its answers go on to the buckets of the next. The last one may
have one bucket. Nothing is gained behind a stage that has itself only one: there the chain stays whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from slackwater.engine.columns.rows import ROW_NUMBER, ordering
from slackwater.engine.columns.types import type_name
from slackwater.engine.compile import Border, compiled
from slackwater.engine.expressions.evaluate import marks_of
from slackwater.engine.plan import Chain, Distinct, Step, Subquery, trees_of
from slackwater.spark.planner.fused.partitioning import Partitioning, partitioning

CHAIN = "spark.slackwater.fused.chain"
"""The setting of a session by which plans are cut."""


@dataclass(frozen=True, slots=True)
class Stages:
    """How the stages of a chain are partitioned, and how many steps come before each but the first."""

    each: tuple[Partitioning, ...]
    cuts: tuple[int, ...] = ()

    @property
    def columns(self) -> tuple[tuple[str, ...], ...]:
        """By stage, the columns of its input that buckets are made of."""
        return tuple(stage.columns for stage in self.each)

    def __str__(self) -> str:
        if len(self.each) == 1:
            return f"one operator, {self.each[0]}"
        told = ", then ".join(map(str, self.each))
        return f"{len(self.each)} operators in a chain, since no column serves all steps: {told}"


def whole(chain: Chain) -> Stages:
    """One stage, whatever its steps need; and what else there could be."""
    one, apart = partitioning(chain), stages(chain)
    if not apart.cuts:
        return apart
    return Stages((replace(one, reason=f"{one.reason}; SET {CHAIN} = true makes it {apart}"),))


def stages(chain: Chain) -> Stages:
    """The stages of a chain: as few as possible, each as long as possible."""
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


def _obstacle(border: Border, rest: Sequence[Step]) -> str:
    """Why the rest cannot do with rows alone, in an order that is known; empty if it can."""
    for step in rest:
        if isinstance(step, Subquery):
            break
        if isinstance(step, Distinct):
            return "DISTINCT compares the rows of one instant"
        if any(ROW_NUMBER in marks_of(tree) for tree in trees_of(step)):
            return "row_number counts the rows of all buckets"
    return "" if ordering(border.sample) else "the order of what the buckets would yield at one time is not known"


def _after(chain: Chain, border: Border) -> Chain:
    """The rest as a chain over what the stage yields."""
    columns = tuple((field.name, type_name(field.type)) for field in border.sample.batch.schema)
    return replace(chain, input=replace(chain.input, columns=columns), steps=chain.steps[border.steps :])
