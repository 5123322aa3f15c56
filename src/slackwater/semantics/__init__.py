"""The reference interpreter: what a plan means, as plainly as Python allows.

`interpret(plan, feeds)` runs a bound plan over finite streams that are cut into batches, and says exactly which rows
come out, in which order, and in which batch. It is slow on purpose: every operator is its definition, written down.

    feeds       batches of rows with a punctuation after each, and the clock that they make
    rows        rows, the marks of an instant, and what a run answers
    values      SQL's values: NULL, order, arithmetic
    expressions Spark SQL expressions over a row
    aggregates  folds over the rows of a group
    windows     which rows a window holds at an instant
    frequencies which rows or instants a frequency picks
    relational  select, project, join, aggregate, distinct, minus over the relation at an instant
    arrivals    disorder control: record store, sequence, late, lost and rejected rows
    instants    at which instants an operator is evaluated
    streams     the result stream of a plan
    changelog   the same operators over lifetimes (EMIT CHANGES)
    interpreter `interpret`
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
