"""Windows at boundaries under EMIT CHANGES: an answer stands until the next boundary, and never has to be taken back.

    {"input": "S", "chain": {...}, "slide": 5000000, "key": ["k"]}

The chain is that of EMIT FINAL (kernels.chain); each of its results lives from its instant for one slide. What
`Changes` is for trees, with the same contract, this is for such chains.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from slackwater.engine.arrays import EARLIEST, LATEST, ints
from slackwater.engine.changelog.compress import compressed
from slackwater.engine.changelog.kernel import Changes, Step
from slackwater.engine.changelog.log import Log, Tuples, of_tuples
from slackwater.engine.changelog.profiles import check_profile, check_upserts, written
from slackwater.engine.changelog.reading import malformed
from slackwater.engine.changelog.structures import Kept
from slackwater.engine.fused import EVENT_TIME, PUNCTUATION, Fused
from slackwater.engine.state import State


def changelog_kernel(
    description: str | Mapping[str, Any], net: bool = False, profile: str = "changes", upserts: bool = False
) -> Kernel:
    """The kernel of a query's changelog, whichever of the two descriptions it has."""
    given = json.loads(description) if isinstance(description, str) else description
    return (AtBoundaries if "chain" in given else Changes)(given, net, profile, upserts)


class AtBoundaries:
    """The changelog of a chain whose results come at boundaries."""

    def __init__(
        self, description: Mapping[str, Any], net: bool = False, profile: str = "changes", upserts: bool = False
    ) -> None:
        try:
            self.input, self.slide = str(description["input"]), int(description["slide"])
            self.key = None if description.get("key") is None else tuple(description["key"])
            self.chain = Fused(description["chain"])
        except KeyError as cause:
            raise malformed(f"{cause!r}") from cause
        self.net = net
        self.profile = check_profile(profile)
        self.upserts = check_upserts(upserts, self.key)

    @property
    def schema(self) -> pa.Schema:
        """The columns of the changelog."""
        return self.step(self.init(), {}, EARLIEST).changelog.schema

    @property
    def kept(self) -> list[Kept]:
        """A line of EXPLAIN: the answers of a boundary all end at the next."""
        return [Kept("chain", 0, 2, self.key, ("what its windows keep",))]

    def init(self) -> State:
        return self.chain.init()

    def step(self, state: State, batches: Mapping[str, pa.RecordBatch], punctuation: int | Mapping[str, int]) -> Step:
        mark = int(punctuation[self.input] if isinstance(punctuation, Mapping) else punctuation)
        none = pa.RecordBatch.from_pylist([], self.chain.chain.schema)
        state, output, late = self.chain.step(state, batches.get(self.input, none), mark)
        log = self._log(output)
        now = int(state.head[PUNCTUATION][0].as_py())
        if self.net:
            log = compressed(log, now)
        refused = {self.input: none}
        lines = written(log, self.profile, self.key, self.net, self.upserts)
        return Step(state, lines, {self.input: late}, refused, log, now)

    def _log(self, output: pa.RecordBatch) -> Log:
        start = ints(output.column(EVENT_TIME))
        end = np.minimum(start, LATEST - self.slide) + self.slide
        order = np.arange(len(start))
        return of_tuples(Tuples(output.drop_columns([EVENT_TIME]), start, end, (start, order)))


Kernel = Changes | AtBoundaries
