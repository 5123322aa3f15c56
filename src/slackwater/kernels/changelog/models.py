"""The same results under the older models that APAS compares with, and what each of them sends when.

| model | a result is told by |
|---|---|
| mixed | a positive with its bound at its start; a negative if it ends earlier |
| positive/negative (STREAM) | a positive at its start, a negative at its end, whatever ended it |
| temporal (PIPES) | one tuple with its exact lifetime, once that is known |
| temporal, by inputs | the same, cut at every moment at which any input came, for every result that lives then |

The last is how APAS describes PIPES' grouped aggregate (3.2): answers are late by one input only, and every group is
sent again at each input. All four are worked out from the lifetimes of the results, which no model changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from slackwater.kernels.arrays import Bools, Ints, stacked
from slackwater.kernels.changelog.log import Log, located

POSITIVE, NEGATIVE, WHOLE = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Results:
    """Results of a query over a run: from `start` until `until`, where `bound` was known at the start."""

    rows: pa.RecordBatch
    start: Ints
    bound: Ints
    until: Ints

    def __len__(self) -> int:
        return len(self.start)

    @property
    def negated(self) -> Bools:
        """Those that ended before their bound."""
        cut: Bools = self.until < self.bound
        return cut


@dataclass(frozen=True, slots=True)
class Told:
    """What a model sends: when, of which result, what kind of tuple, and the lifetime that it states."""

    at: Ints
    result: Ints
    kind: Ints
    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.at)

    def delay(self, results: Results) -> Ints:
        """By result, how long after its start it was first heard of."""
        first = np.full(len(results), np.iinfo(np.int64).max)
        np.minimum.at(first, self.result, self.at)
        found: Ints = (first - results.start)[first < np.iinfo(np.int64).max]
        return found


def results_of(logs: Sequence[Log]) -> Results:
    """The results of a run from the changelogs of its batches, uncompressed."""
    born = [log.born for log in logs]
    ids = [np.concatenate(each) for each in zip(*(each.ids for each in born), strict=True)]
    ended = [np.concatenate(each) for each in zip(*(log.ended.ids for log in logs), strict=True)]
    bound = np.concatenate([each.end for each in born])
    until = bound.copy()
    place = located(ids, ended)
    until[place] = np.concatenate([log.at for log in logs])
    return Results(stacked([each.rows for each in born]), np.concatenate([each.start for each in born]), bound, until)


def mixed(results: Results, now: int) -> Told:
    """Positive temporal and negative tuples, as the kernels send them, up to a punctuation."""
    cut = np.flatnonzero(results.negated & (results.until < now))
    return _together(_begun(results, results.bound), _ended(results, cut))


def positive_negative(results: Results, now: int) -> Told:
    """Every end is a negative tuple."""
    over = np.flatnonzero(results.until < now)
    forever = np.full(len(results), np.iinfo(np.int64).max)
    return _together(_begun(results, forever), _ended(results, over))


def temporal(results: Results, now: int, known: bool) -> Told:
    """One tuple for a result: at its start where its end is `known` by then, else when it has ended."""
    if known:
        return _begun(results, results.until, WHOLE)
    over = np.flatnonzero(results.until < now)
    kind = np.full(len(over), WHOLE)
    return Told(results.until[over], over, kind, results.start[over], results.until[over])


def pieces(results: Results, now: int, inputs: Ints) -> tuple[Ints, Ints, Ints]:
    """The moments at which inputs came, and by result the first of them after its start, and how many it is cut at."""
    moments = np.unique(inputs[inputs < now])
    first = np.searchsorted(moments, results.start, side="right")
    last = np.searchsorted(moments, results.until, side="left")
    return moments, first, np.maximum(np.minimum(last + 1, len(moments)) - first, 0)


def temporal_by_inputs(results: Results, now: int, inputs: Ints) -> Told:
    """At each input the pieces, since the input before, of all results that lived."""
    moments, first, count = pieces(results, now, inputs)
    result = np.repeat(np.arange(len(results)), count)
    within = np.arange(len(result)) - np.repeat(np.cumsum(count) - count, count)
    at = moments[np.repeat(first, count) + within]
    start = np.where(within == 0, results.start[result], moments[np.repeat(first, count) + within - 1])
    return Told(at, result, np.full(len(at), WHOLE), start, np.minimum(at, results.until[result]))


def table_at(told: Told, time: int) -> Ints:
    """The results that live at a point in time by what a model says, each once, in order."""
    inside = (told.kind != NEGATIVE) & (told.start <= time) & (told.end > time)
    over = told.result[(told.kind == NEGATIVE) & (told.at <= time)]
    return np.setdiff1d(told.result[inside], over)


def _begun(results: Results, end: Ints, kind: int = POSITIVE) -> Told:
    size = len(results)
    return Told(results.start, np.arange(size), np.full(size, kind), results.start, end)


def _ended(results: Results, places: Ints) -> Told:
    at = results.until[places]
    return Told(at, places, np.full(len(places), NEGATIVE), at, at)


def _together(one: Told, two: Told) -> Told:
    at, result = np.concatenate([one.at, two.at]), np.concatenate([one.result, two.result])
    start, end = np.concatenate([one.start, two.start]), np.concatenate([one.end, two.end])
    return Told(at, result, np.concatenate([one.kind, two.kind]), start, end)
