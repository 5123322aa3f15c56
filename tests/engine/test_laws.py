"""Laws that every kernel keeps, over random plans and streams: it answers as the interpreter, however rows are cut."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.running import Given, Ran, close, given_by, ran, run
from tests.law_cases import law_cases

from slackwater.algebra.lengths import ONE_TUPLE, Kind, Length
from slackwater.algebra.nodes import Frequency, Window, inputs, with_inputs
from slackwater.engine.chain import ChainKernel
from slackwater.engine.columns import state
from slackwater.engine.columns.arrays import EARLIEST
from slackwater.semantics import Answer, Feed, interpret
from slackwater.spark.planner.fused.chains import chain_of
from slackwater.testing.plans import Case, Shape, seeded_cases

LAW = settings(max_examples=law_cases(60), deadline=None)
KINDS = {
    "streams": Shape(joins=False, sets=False, subqueries=False, instants=("stream", "sampled")),
    "rows": Shape(joins=False, sets=False, subqueries=False, instants=("rows",)),
    "jumps": Shape(joins=False, sets=False, subqueries=False, instants=("jumps",)),
    "boundaries": Shape(joins=False, sets=False, subqueries=False, instants=("boundaries",)),
    "nested": Shape(joins=False, sets=False),
}
ANY = KINDS["nested"]


def the_feed(case: Case) -> Feed:
    (feed,) = case.feeds.values()
    return feed


def told(answer: Answer, batches: int) -> Ran:
    """Return the interpreter's answer in the form of a kernel's output."""
    made = Ran()
    for batch in range(batches):
        made.rows.append([(tuple(each.row.values()), each.time) for each in answer.rows if each.batch == batch])
    return made


def check(case: Case) -> None:
    found = ran(case.plan, the_feed(case))
    wanted = told(interpret(case.plan, case.feeds, flush=True), len(found.rows))
    assert close(found.rows, wanted.rows)


@pytest.mark.parametrize("kind", KINDS)
@LAW
@given(data=st.data())
def test_a_kernel_answers_what_the_plan_means(kind: str, data: st.DataObject):
    check(data.draw(seeded_cases(KINDS[kind])))


@pytest.mark.parametrize("change", ["parts and counts differ", "strict"])
@LAW
@given(data=st.data())
def test_jumping_windows_that_no_query_text_gives(change: str, data: st.DataObject):
    case = data.draw(seeded_cases(KINDS["jumps"]))
    check(Case(jumping(case.plan, change), case.feeds))


def jumping(plan: Any, change: str) -> Any:
    """Return the plan with its jumping windows counted by other columns, or evaluated at multiples of a time."""
    match plan:
        case Window(every=every) if every != ONE_TUPLE:
            return apart(plan, every, change)
        case Frequency(child=Window(every=within) as window, every=every) if within == ONE_TUPLE:
            return apart(window, every, change)
        case _:
            return with_inputs(plan, tuple(jumping(each, change) for each in inputs(plan)))


def apart(window: Window, every: Length, change: str) -> Frequency:
    bare = Window(window.child, window.range, ONE_TUPLE, window.by)
    if change == "strict":
        return Frequency(bare, Length(3, Kind.TIME), strict=True)
    return Frequency(replace(bare, by=("id",)), every, by=("v",))


@LAW
@given(data=st.data())
def test_any_cut_into_batches_gives_the_same_rows(data: st.DataObject):
    case = data.draw(seeded_cases(ANY))
    kernel, batches = ChainKernel(chain_of(case.plan)), given_by(the_feed(case))
    once, again = run(kernel, batches), run(kernel, data.draw(cut(batches)))
    assert list(chain(*once.rows)) == list(chain(*again.rows))


@st.composite
def cut(draw: st.DrawFn, batches: list[Given]) -> list[Given]:
    """Draw the same rows in other batches, some of them empty, with the punctuations between the same rows."""
    made: list[Given] = []
    before = EARLIEST
    for rows, punctuation in batches:
        cuts = sorted(draw(st.lists(st.integers(0, len(rows)), max_size=2)))
        edges = [0, *cuts, len(rows)]
        parts = [rows[start:end] for start, end in pairwise(edges)]
        made += [(part, before) for part in parts[:-1]] + [(parts[-1], punctuation)]
        before = punctuation
    return made


@LAW
@given(case=seeded_cases(ANY))
def test_the_size_of_segments_does_not_matter(case: Case):
    whole = ran(case.plan, the_feed(case))
    sizes = state.MOST, state.FEW
    state.MOST, state.FEW = 3, 0
    try:
        assert ran(case.plan, the_feed(case)).rows == whole.rows
    finally:
        state.MOST, state.FEW = sizes


@LAW
@given(case=seeded_cases(ANY))
def test_a_host_may_keep_every_piece_but_the_head_as_it_was_written(case: Case):
    states = ran(case.plan, the_feed(case), stored=False).states
    written: dict[str, bytes] = {}
    for each in states:
        pieces = {name: each.piece(name) for name in each.names()}
        assert all(written.setdefault(name, piece) == piece for name, piece in pieces.items() if name != "head")


@LAW
@given(case=seeded_cases(ANY))
def test_a_step_leaves_the_state_before_it_alone(case: Case):
    """A batch may be run again from the same state, after a failure."""
    kernel = ChainKernel(chain_of(case.plan))
    states = run(kernel, given_by(the_feed(case)), stored=False).states
    before = [{name: each.piece(name) for name in each.names()} for each in states]
    for each, (rows, punctuation) in zip(states, given_by(the_feed(case))[1:], strict=False):
        kernel.step(each, pa.RecordBatch.from_pylist(list(rows), kernel.chain.input.schema), punctuation)
    assert before == [{name: each.piece(name) for name in each.names()} for each in states]
