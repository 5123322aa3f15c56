"""The net change of a batch: the same tuples alive at its end, and no smaller changelog does that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from tests.engine.changelog.compositions import compositions
from tests.engine.changelog.running import given_by, record_batch
from tests.engine.running import plain_rows

from slackwater.engine.changelog.kernel import ChangelogKernel
from slackwater.engine.changelog.log import TupleLog, Tuples, compressed, located
from slackwater.spark.planner.fused.changelog import changes_of
from slackwater.testing.plans import Case

Living = Counter[tuple[Any, ...]]
"""Rows with their bounds."""


def replayed(living: Living, log: TupleLog, now: int) -> Living:
    """Return the tuples that live at the end of a batch: born, not ended, and not expired."""
    after = living + Counter(lines(log.born)) - Counter(lines(log.ended))
    return Counter({line: count for line, count in after.items() if line[-1] >= now})


def lines(tuples: Tuples) -> list[tuple[Any, ...]]:
    rows = [tuple(map(repr, row)) for row in plain_rows(tuples.rows)]
    return [(*row, int(end)) for row, end in zip(rows, tuples.end, strict=True)]


def batches_of(case: Case) -> Iterator[tuple[TupleLog, TupleLog, int]]:
    """Return the changelog of each batch, its net change, and the punctuation."""
    plain, net = (ChangelogKernel(changes_of(case.plan), net=each) for each in (False, True))
    one, two = plain.init(), net.init()
    for rows, marks in given_by(case.plan, case.feeds, flush=False):
        given = {name: record_batch(plain, name, each) for name, each in rows.items()}
        first, second = plain.step(one, given, marks), net.step(two, given, marks)
        one, two = first.state, second.state
        yield first.log, second.log, min(marks.values())


@settings(max_examples=25, deadline=None)
@given(case=compositions())
def test_both_changelogs_leave_the_same_table_at_every_batch_end(case: Case):
    one: Living = Counter()
    two: Living = Counter()
    for log, net, now in batches_of(case):
        one, two = replayed(one, log, now), replayed(two, net, now)
        assert one == two
        assert len(net.born) + len(net.at) <= len(log.born) + len(log.at)


@settings(max_examples=25, deadline=None)
@given(case=compositions())
def test_no_smaller_changelog_leaves_the_same_tuples(case: Case):
    before: Living = Counter()
    for log, net, now in batches_of(case):
        after = replayed(before, log, now)
        waits = Counter({line: count for line, count in before.items() if line[-1] >= now})
        size = len(net.born) + len(net.at)
        if size <= 3:
            assert not any(reached(waits, after, fewer) for fewer in range(size))
        before = after


def reached(before: Living, after: Living, steps: int) -> bool:
    """Return whether some choice of so many inserts and deletes leads from one table to the other."""
    at_hand = [(sign, line) for line in {*before, *after} for sign in (1, -1)]
    for chosen in product(at_hand, repeat=steps):
        made = Counter(before)
        for sign, line in chosen:
            made[line] += sign
        if +made == after and min(made.values(), default=0) >= 0:
            return True
    return False


def tuples(*given: tuple[str, int, int, int]) -> Tuples:
    """(value, number, start, end) as tuples."""
    value, number, start, end = (list(each) for each in zip(*given, strict=True)) if given else ([], [], [], [])
    ints = [np.array(each, np.int64) for each in (start, end, number)]
    return Tuples(pa.record_batch({"v": pa.array(value, pa.string())}), ints[0], ints[1], (ints[2],))


def log(born: Tuples, ended: Tuples, *at: int) -> TupleLog:
    return located(born, ended, np.array(at, np.int64))


NOTHING = tuples()
CASES = {
    "a positive and its negative": (log(tuples(("a", 1, 2, 30)), tuples(("a", 1, 2, 30)), 5), [], []),
    "what its bound ended": (log(tuples(("a", 1, 2, 5)), NOTHING), [], []),
    "the last of several": (
        log(tuples(("a", 1, 2, 30), ("b", 2, 4, 30), ("c", 3, 6, 30)), tuples(("a", 1, 2, 30), ("b", 2, 4, 30)), 4, 6),
        ["c"],
        [],
    ),
    "first pre-image, last post-image": (
        log(tuples(("b", 2, 4, 30), ("c", 3, 6, 30)), tuples(("a", 1, 0, 30), ("b", 2, 4, 30)), 4, 6),
        ["c"],
        ["a"],
    ),
    "there and back": (
        log(tuples(("b", 2, 4, 30), ("a", 3, 6, 30)), tuples(("a", 1, 0, 30), ("b", 2, 4, 30)), 4, 6),
        [],
        [],
    ),
    "there and back with another bound": (
        log(tuples(("b", 2, 4, 30), ("a", 3, 6, 40)), tuples(("a", 1, 0, 30), ("b", 2, 4, 30)), 4, 6),
        ["a"],
        ["a"],
    ),
    "a negative of what has expired meanwhile": (log(NOTHING, tuples(("a", 1, 0, 8)), 5), [], []),
    "equal rows, one of them gone": (
        log(tuples(("a", 3, 4, 30)), tuples(("a", 1, 0, 30), ("a", 2, 0, 30)), 4, 4),
        [],
        ["a"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_net_changes_worked_out_by_hand(name: str):
    given, born, ended = CASES[name]
    found = compressed(given, 10)
    assert found.born.rows.column("v").to_pylist() == born
    assert found.ended.rows.column("v").to_pylist() == ended
