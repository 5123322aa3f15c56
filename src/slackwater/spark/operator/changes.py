"""Run the changelog of a query as the kernel of an operator of Spark."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import pyarrow as pa

from slackwater.engine.changelog.kernel import ChangelogKernel
from slackwater.engine.changelog.log import handed_rows, rows_of
from slackwater.engine.columns.arrays import EARLIEST
from slackwater.engine.columns.state import State
from slackwater.engine.plan import decode
from slackwater.spark.operator.kernel import RESULT, Batches
from slackwater.spark.operator.writing import Form

REFUSED = "refused"
COMPUTED = "#"
"""The names of computed columns begin with this, so that no column of a stream is named so."""


class ChangesKernel:
    """The kernel of a changelog. Its outputs are the changelog, and the rows that each stream refuses.

    Without a form the changelog consists of rows that Spark can change before it is written. With `handed`, these rows
    also have what another operator needs to read them.
    """

    def __init__(self, document: str, form: Form | None, *, handed: bool = False) -> None:
        self.form, self.handed = form, handed
        plain = form or Form(net=False)
        self.kernel = ChangelogKernel(decode(document), plain.net, plain.profile, plain.upserts)
        self.outputs = {name: batch.schema for name, batch in self.step(State(), {}, EARLIEST)[1].items()}

    def take_back(self, state: State, punctuation: int) -> State:
        """Return the state as it is: a flush of a changelog takes time no further than its newest row."""
        return state

    def step(
        self, state: State, batches: Batches, punctuation: int, *, everything: bool = False
    ) -> tuple[State, Batches]:
        after, changelog, refused, log, now = self.kernel.step(state, batches, punctuation, everything=everything)
        plain = handed_rows(log) if self.handed else rows_of(log, now)
        result = plain if self.form is None else changelog
        return after, {RESULT: result} | {output_of(name): _without_computed(rows) for name, rows in refused.items()}


def _without_computed(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows without the columns that Spark computed of them."""
    return rows.select([name for name in rows.schema.names if not name.startswith(COMPUTED)])


def output_of(stream: str) -> str:
    """Return the name of the output with the rows that a stream with CHANGELOG BY refuses."""
    return f"{REFUSED}/{stream}"


def count_refused(metrics: Mapping[str, int | None]) -> dict[str, int]:
    """Return the number of rows that each stream refused, from the counts of outputs in Spark's progress.

    >>> count_refused({"refused/Edits": 3, "refused/Other": None})
    {'Edits': 3, 'Other': 0}
    """
    return {output.removeprefix(output_of("")): rows or 0 for output, rows in metrics.items()}


@lru_cache(maxsize=64)
def changes_kernel_of(document: str, form: Form | None, *, handed: bool = False) -> ChangesKernel:
    """Return the kernel of a changelog, compiled once in each worker."""
    return ChangesKernel(document, form, handed=handed)
