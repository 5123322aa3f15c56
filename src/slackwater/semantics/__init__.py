"""The reference interpreter: the meaning of a plan, as plainly as Python allows.

`interpret(plan, feeds)` runs a bound plan over finite streams that are cut into batches, and returns exactly which rows
come out, in which order, and in which batch. It is slow on purpose: every operator is its definition, written down.

    feeds         batches of rows with a punctuation after each, and the clock that they make
    rows          rows, instants, and the answer of a run
    values        SQL's values: NULL, order, arithmetic
    expressions   Spark SQL expressions over a row (functions, casts)
    aggregates    folds over the rows of a group (calls: from a call to its fold)
    arrivals      disorder control: the record store, the sequence, rejected rows
    windows       the rows that a window holds at an instant, and those that a frequency picks
    relational    select, project, join, aggregate, distinct, minus over the relation at an instant
    streams       the instants of a plan, its relation at each, and the result stream
    late          late rows, and how many windows they missed
    final         queries without final answers
    changelog     the same operators over lifetimes (EMIT CHANGES)
    interpreter   `interpret`
"""

from slackwater.semantics.feeds import BEGINNING, END_OF_TIME, Feed, FeedBatch
from slackwater.semantics.interpreter import interpret
from slackwater.semantics.rows import Answer, Change, Late, Rejected, Result, Sync

__all__ = [
    "BEGINNING",
    "END_OF_TIME",
    "Answer",
    "Change",
    "Feed",
    "FeedBatch",
    "Late",
    "Rejected",
    "Result",
    "Sync",
    "interpret",
]
