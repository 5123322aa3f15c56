"""Kernels whose punctuation is taken back, as at the end of a flush that closed the windows of suspect rows."""

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from slackwater.engine.columns.state import State
from slackwater.engine.plan import encode
from slackwater.lang import bind_query
from slackwater.spark.operator.kernel import RESULT, changelog_kernel_of, kernel_of
from slackwater.spark.operator.writing import DEFAULT
from slackwater.spark.planner.fused.chains import chain_of
from slackwater.spark.planner.fused.changelog import changes_of
from slackwater.testing.catalog import CATALOG

SECOND = 1_000_000
HONEST, FAR = 10, 3_700
QUERIES = {
    "rows": "SELECT v FROM Readings [RANGE 5 seconds]",
    "the last row": "SELECT COUNT(*) AS n FROM Readings [RANGE 1 TUPLE]",
    "a range": "SELECT COUNT(*) AS n FROM Readings [RANGE 10 seconds]",
    "extents": "SELECT COUNT(*) AS n FROM Readings [RANGE 10 seconds SLIDE 10 seconds]",
    "rows of extents": "SELECT v FROM Readings [RANGE 10 seconds SLIDE 10 seconds]",
    "every row of a count": "SELECT v FROM Readings [FREQUENCY 1 TUPLE]",
    "slots": "SELECT v FROM Readings [FREQUENCY 10 seconds]",
}


@pytest.mark.parametrize("name", QUERIES)
def test_rows_after_a_punctuation_that_was_taken_back_are_answered(name: str):
    kernel = kernel_of(encode(chain_of(bind_query(QUERIES[name], CATALOG))), "Readings")
    schema, state = kernel.nothing.schema, State()

    def answers(seconds: list[int], punctuation: int) -> int:
        nonlocal state
        rows = [{"id": 1, "v": second, "ts": second * SECOND} for second in seconds]
        given = {"Readings": pa.RecordBatch.from_pylist(rows, schema)} if rows else {}
        state, made = kernel.step(state, given, punctuation * SECOND)
        return made[RESULT].num_rows

    assert answers([1, 3_600], 0) == 0
    assert answers([], FAR) == 2
    state = kernel.take_back(state, HONEST * SECOND)
    assert answers([5, 30, 1_800], HONEST) == 0, "5 is late"
    assert answers([], FAR) == 2


@pytest.mark.parametrize("name", ["rows", "a range"])
def test_a_changelog_releases_every_row_at_the_end_of_its_input_and_goes_on_from_there(name: str):
    plan = bind_query(f"{QUERIES[name]} EMIT CHANGES", CATALOG)
    engine = changes_of(plan)
    kernel = changelog_kernel_of(encode(engine), DEFAULT)
    schema, state = engine.inputs["Readings"].schema, State()

    def starts(seconds: list[int], punctuation: int, everything: bool = False) -> list[int]:
        nonlocal state
        rows = [{"id": 1, "v": second, "ts": second * SECOND} for second in seconds]
        given = {"Readings": pa.RecordBatch.from_pylist(rows, schema)} if rows else {}
        state, made = kernel.step(state, given, punctuation, everything=everything)
        state = State.read(state.piece)
        found = made[RESULT].filter(pc.equal(made[RESULT].column("_change_type"), "insert"))
        return sorted(each.timestamp() for each in found.column("_valid_from").to_pylist())

    assert starts([1, 2, 3_600], 0) == []
    assert starts([], 2 * SECOND + 1, everything=True)[-1] == 2, "where the newest other row is"
    assert starts([30, 60], 2 * SECOND + 1) == []
    assert starts([], 31 * SECOND)[-1] == 30
    assert starts([], 61 * SECOND)[-1] == 60
