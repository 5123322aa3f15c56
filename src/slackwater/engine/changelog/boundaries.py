"""Windows at boundaries under EMIT CHANGES: an answer is valid until the next boundary and is never retracted.

The chain is the one of EMIT FINAL; each of its results lives for one slide from its instant on. The kernel has the same
interface as `Changes`, the kernel of trees.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from slackwater.engine.changelog.compress import compressed
from slackwater.engine.changelog.kernel import ChangelogKernel, ChangelogStep
from slackwater.engine.changelog.log import TupleLog, Tuples, of_tuples
from slackwater.engine.changelog.profiles import check_profile, check_upserts, written
from slackwater.engine.changelog.structures import KeptState
from slackwater.engine.columns.arrays import EARLIEST, LATEST, ints
from slackwater.engine.columns.state import State
from slackwater.engine.fused import EVENT_TIME, PUNCTUATION, Fused
from slackwater.engine.plan import Boundaries, Query


def changelog_kernel(
    plan: Boundaries | Query, net: bool = False, profile: str = "changes", upserts: bool = False
) -> Kernel:
    """Return the kernel of a query's changelog for either kind of plan."""
    if isinstance(plan, Boundaries):
        return BoundaryChain(plan, net, profile, upserts)
    return ChangelogKernel(plan, net, profile, upserts)


class BoundaryChain:
    """The changelog of a chain whose results come at boundaries."""

    def __init__(self, plan: Boundaries, net: bool = False, profile: str = "changes", upserts: bool = False) -> None:
        self.input, self.slide, self.key = plan.input, plan.slide, plan.key
        self.chain = Fused(plan.chain)
        self.net = net
        self.profile = check_profile(profile)
        self.upserts = check_upserts(upserts, self.key)

    @property
    def schema(self) -> pa.Schema:
        """The columns of the changelog."""
        return self.step(self.init(), {}, EARLIEST).changelog.schema

    @property
    def kept(self) -> list[KeptState]:
        """The line of EXPLAIN: the answers of a boundary all end at the next."""
        return [KeptState("chain", 0, 2, self.key, ("what its windows keep",))]

    def init(self) -> State:
        return self.chain.init()

    def step(
        self,
        state: State,
        batches: Mapping[str, pa.RecordBatch],
        punctuation: int | Mapping[str, int],
        *,
        everything: bool = False,
    ) -> ChangelogStep:
        mark = int(punctuation[self.input] if isinstance(punctuation, Mapping) else punctuation)
        none = pa.RecordBatch.from_pylist([], self.chain.chain.input.schema)
        state, output = self.chain.step(state, batches.get(self.input, none), mark, everything=everything)
        log = self._log(output)
        now = int(state.head[PUNCTUATION][0].as_py())
        if self.net:
            log = compressed(log, now)
        refused = {self.input: none}
        lines = written(log, self.profile, self.key, self.net, self.upserts)
        return ChangelogStep(state, lines, refused, log, now)

    def _log(self, output: pa.RecordBatch) -> TupleLog:
        start = ints(output.column(EVENT_TIME))
        end = np.minimum(start, LATEST - self.slide) + self.slide
        order = np.arange(len(start))
        return of_tuples(Tuples(output.drop_columns([EVENT_TIME]), start, end, (start, order)))


Kernel = ChangelogKernel | BoundaryChain
