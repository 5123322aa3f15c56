"""The numbers of rows, from 1 on, as one more column of their tuples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from slackwater.engine.changelog.log import Log, Tuples, of_tuples
from slackwater.engine.columns.arrays import Ints
from slackwater.engine.columns.state import Memory
from slackwater.engine.plan import NUMBERED


def numbering(log: Log) -> Log:
    """The rows of an input: their identity counts from 0."""
    return replace(log, born=_with(log.born, log.born.ids[0] + 1), ended=_with(log.ended, log.ended.ids[0] + 1))


def renumbered(memory: Memory, name: str, log: Log) -> Log:
    """The rows of a stream that come in their order. Kept, under a name: their count."""
    first = memory.number(name) + 1
    memory.put(name, first - 1 + len(log.born))
    return of_tuples(_with(log.born, np.arange(first, first + len(log.born))))


def _with(tuples: Tuples, number: Ints) -> Tuples:
    return tuples.holding(tuples.rows.append_column(NUMBERED, pa.array(number)))
