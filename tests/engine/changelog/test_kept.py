"""What is kept grows with what lives, not with what has passed; and by class, as the table says."""

from __future__ import annotations

from contextlib import ExitStack
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.changelog.compositions import compositions
from tests.engine.changelog.running import given_by, run
from tests.engine.changelog.trees import INPUTS, E, S, distinct, grouped, kernel, of_k, rows, window

from slackwater.engine.changelog import aggregate, inputs, join, minus
from slackwater.engine.changelog.kernel import ChangelogKernel
from slackwater.engine.changelog.living import STRUCTURES, LivingTuples, Structure
from slackwater.engine.changelog.timeline import NOTHING, best
from slackwater.engine.columns.state import State
from slackwater.engine.plan import Edge, EnginePlan, JoinLogs, MinusLogs, Node, Source, walk
from slackwater.spark.planner.fused.changelog import changes_of
from slackwater.testing.plans import Case

W = window(S, 10)
ON = ((("column", "k"), ("column", "k")),)
JOIN = JoinLogs(Edge(3), W, window(S, 5), ("k", "x", "t", "k2", "x2", "t2"), ON)
MINUS = MinusLogs(Edge(4, ("k",)), of_k(W), of_k(window(S, 3)))
QUERIES = {
    "sum": grouped(W, "sum", "x"),
    "max": grouped(W, "max", "x"),
    "count distinct": grouped(W, "count", "x", distinct=True),
    "distinct": distinct(of_k(W)),
    "minus": MINUS,
    "join": JOIN,
    "sum of sums": grouped(grouped(W, "sum", "x"), "max", "a"),
}


def after(query: Node, batches: int, key: int = 0) -> State:
    """Return the state after so many batches of 20 rows over 10 ticks; with `key`, no key repeats."""
    made = kernel(query)
    state = made.init()
    for number in range(batches):
        first = number * 10
        given = [(each % 5 + key * number * 5, each, first + each // 2) for each in range(20)]
        state = made.step(state, {"S": rows(*given)}, first + 10).state
    return state


def largest(state: State) -> int:
    return max(len(column) for column in state.head.values())


@pytest.mark.parametrize("name", QUERIES)
def test_what_has_passed_is_forgotten(name: str):
    early, late = after(QUERIES[name], 4, key=1), after(QUERIES[name], 60, key=1)
    assert late.rows <= 2 * early.rows
    assert largest(late) <= 2 * largest(early)


def test_of_a_stream_that_never_ends_only_tallies_are_kept():
    assert after(grouped(S, "sum", "x"), 30).rows == 0
    assert after(grouped(S, "max", "x"), 30).rows <= 10
    assert after(grouped(S, "count", "x", distinct=True), 30).rows <= 200
    assert after(distinct(of_k(S)), 30).rows <= 10


def test_the_head_is_small_where_groups_are_few():
    assert largest(after(grouped(W, "avg", "x"), 30)) <= 5


def test_structures_are_chosen_by_class():
    edits = grouped(window(E, 10, level=4), "sum", "x")
    assert structures(edits) == {"in.E.living": "expiry order and key index", "3.living": "expiry order and key index"}
    assert structures(JOIN) == {"5.l": "queue", "5.r": "queue"}
    assert structures(grouped(S, "sum", "x")) == {"2.living": "list"}
    assert structures(distinct(of_k(JOIN))) == {"5.l": "queue", "5.r": "queue", "7.l": "expiry order"}


def structures(query: Node) -> dict[str, str]:
    """Return the structures that the kernel of a query keeps tuples in, by their names in the state."""
    made: dict[str, str] = {}
    read = [node.input for node in walk(query) if isinstance(node, Source)]

    class Noted(LivingTuples):
        def __init__(self, name: str, structure: Structure) -> None:
            made[name] = structure.name
            super().__init__(name, structure)

    with ExitStack() as stack:
        for module in (aggregate, inputs, join, minus):
            stack.enter_context(mock.patch.object(module, "LivingTuples", Noted))
        ChangelogKernel(EnginePlan({name: INPUTS[name] for name in read}, query))
    return made


def test_the_table_of_structures():
    told = {level: (each.expires, each.ordered, each.indexed) for level, each in STRUCTURES.items()}
    assert told == {
        1: (False, True, False),
        2: (True, True, False),
        3: (True, False, False),
        4: (True, False, True),
    }


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 12), st.integers(-5, 5)), max_size=12))
def test_the_best_of_stretches_is_the_best_of_those_that_cover_a_point(given: list[tuple[int, int, int]]):
    low = np.array([start for start, _, _ in given], np.int64)
    high = np.array([start + length for start, length, _ in given], np.int64)
    rank = np.array([each for *_, each in given], np.int64)
    wanted = [
        max((each for start, length, each in given if start <= point < start + length), default=NOTHING)
        for point in range(30)
    ]
    assert best(low, high, rank, 30).tolist() == wanted


@settings(max_examples=10, deadline=None)
@given(case=compositions())
def test_a_host_may_keep_every_piece_but_the_head_as_it_was_written(case: Case):
    written: dict[str, bytes] = {}
    for state in run(ChangelogKernel(changes_of(case.plan)), given_by(case.plan, case.feeds), stored=False).states:
        pieces = {name: state.piece(name) for name in state.names()}
        assert all(written.setdefault(name, piece) == piece for name, piece in pieces.items() if name != "head")
