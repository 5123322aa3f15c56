"""Kernels whose punctuation is taken back, as at the end of a flush that closed the windows of suspect rows."""

import json

import pyarrow as pa
import pytest

from slackwater.lang import bind_query
from slackwater.spark.operator.kernel import RESULT, kernel_of
from slackwater.spark.planner.fused.lowering import chain_of
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
    kernel = kernel_of(json.dumps(chain_of(bind_query(QUERIES[name], CATALOG))), "Readings")
    schema, state = kernel.inputs["Readings"], kernel.init()

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
