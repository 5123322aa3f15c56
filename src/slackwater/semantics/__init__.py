"""The reference interpreter: what a plan means, as plainly as Python allows.

`interpret(plan, feeds)` runs a bound plan over finite streams that are cut into batches, and says exactly which rows
come out, in which order, and in which batch. It is slow on purpose: every operator is its definition, written down.

    feeds         batches of rows with a punctuation after each, and the clock that they make
    rows          rows, instants, and what a run answers
    values        SQL's values: NULL, order, arithmetic
    expressions   Spark SQL expressions over a row (functions, casts)
    aggregates    folds over the rows of a group (calls: from a call to its fold)
    arrivals      disorder control: the record store, the sequence, rejected rows
    windows       which rows a window holds at an instant
    frequencies   which rows or instants a frequency picks
    relational    select, project, join, aggregate, distinct, minus over the relation at an instant
    streams       the instants of a plan, its relation at each, and the result stream
    late          late rows, and what they missed
    final         which queries have no final answer
    changelog     the same operators over lifetimes (EMIT CHANGES), and replay
    interpreter   `interpret`
"""

from slackwater.semantics.feeds import BEGINNING, END_OF_TIME, Batch, Feed
from slackwater.semantics.interpreter import interpret
from slackwater.semantics.rows import Answer, Change, Late, Rejected, Result, Sync

__all__ = [
    "BEGINNING",
    "END_OF_TIME",
    "Answer",
    "Batch",
    "Change",
    "Feed",
    "Late",
    "Rejected",
    "Result",
    "Sync",
    "interpret",
]
