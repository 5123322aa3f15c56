"""DISTINCT over what an instant yields: each row once, in the order of its columns. Nothing is kept."""

from __future__ import annotations

import numpy as np

from slackwater.engine.columns.keys import dense, normal, ranked
from slackwater.engine.columns.rows import INSTANT, Rows, unordered
from slackwater.engine.columns.state import Memory
from slackwater.engine.operators.steps import Span


class Unique:
    """The rows of an instant are all in one batch: equal ones are found there."""

    def step(self, memory: Memory, rows: Rows, span: Span) -> tuple[Rows, Span]:
        rows = unordered(rows)
        if not len(rows):
            return rows, span
        columns = [normal(column) for column in rows.batch.columns]
        _, first = dense([rows.marks[INSTANT], *columns])
        once = rows.at(np.sort(first))
        columns = [normal(column) for column in once.batch.columns]
        rank = ranked([once.marks[INSTANT], *columns])
        order = np.empty(len(rank), np.int64)
        order[rank] = np.arange(len(rank))
        return once.at(order), span
