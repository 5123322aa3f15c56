"""Recorded rows as a stream declares them: one that does not fit spoils no other, and none is lost."""

import json

import numpy as np
import pyarrow as pa
import pytest

from slackwater.disorder.replay.trace import RAW, Trace
from slackwater.errors import InputError
from slackwater.spark.io.sources.fitting import fit_to_schema

STAMP = pa.timestamp("us", "UTC")
SCHEMA = pa.schema([("id", pa.int32()), ("v", pa.float64()), ("at", STAMP), (RAW, pa.string())])
LINES = """id,v,at
1,1.5,1704067200000
x,2.5,1704067201000
99999999999,3.5,1704067202000
4,fast,1704067203000
5,5.5
6,6.5,soon
7,7.5,1704067204000,more
,,1704067205000
"""


def test_poison_in_a_trace_is_set_aside_and_the_others_stay(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text(LINES)
    table = Trace(str(path), "at", None, "ms", set_aside=True).table()
    rows = fit_to_schema(table, SCHEMA).to_pylist()
    assert len(rows) == len(LINES.splitlines()) - 1
    whole = [(row["id"], row["v"], row["at"] and row["at"].second) for row in rows if row[RAW] is None]
    assert whole == [(1, 1.5, 0), (6, 6.5, None), (None, None, 5)]
    aside = [row for row in rows if row[RAW] is not None]
    assert all(row["id"] is row["v"] is row["at"] is None for row in aside)
    texts = [row[RAW] for row in aside]
    assert texts[-2:] == ["5,5.5", "7,7.5,1704067204000,more"]
    assert [json.loads(text)["id"] for text in texts[:-2]] == ["x", "99999999999", "4"]


@pytest.mark.parametrize("kind", [pa.int8(), pa.int32(), pa.int64(), pa.float32()])
def test_numbers_that_fit_are_what_they_were(kind):
    values = [0, 1, -100, 99, None]
    table = pa.table({"id": pa.array(values, pa.int64())})
    schema = pa.schema([("id", kind), (RAW, pa.string())])
    assert fit_to_schema(table, schema)["id"].to_pylist() == values


def test_a_number_that_is_too_large_is_not_wrapped_around():
    table = pa.table({"id": np.array([2**40, 3])})
    rows = fit_to_schema(table, pa.schema([("id", pa.int32()), (RAW, pa.string())])).to_pylist()
    assert rows == [{"id": None, RAW: '{"id": 1099511627776}'}, {"id": 3, RAW: None}]


def test_whole_numbers_beside_a_malformed_one_are_read_digit_by_digit():
    exact = [9_007_199_254_740_993, 2**63 - 1, -(2**63), 7]
    texts = [*map(str, exact), " 8 ", "9.0", "1e3", "x", "1.5", str(2**63), "9007199254740993.5", None]
    schema = pa.schema([("id", pa.int64()), (RAW, pa.string())])
    rows = fit_to_schema(pa.table({"id": texts}), schema).to_pylist()
    assert [row["id"] for row in rows] == [*exact, 8, 9, 1000, None, None, None, None, None]
    assert [row[RAW] is not None for row in rows] == [False] * 7 + [True] * 4 + [False]


def test_unsigned_numbers_that_a_bigint_has_are_exact():
    table = pa.table({"id": pa.array([2**63 - 1, 2**63, 9_007_199_254_740_993], pa.uint64())})
    rows = fit_to_schema(table, pa.schema([("id", pa.int64()), (RAW, pa.string())])).to_pylist()
    assert [row["id"] for row in rows] == [2**63 - 1, None, 9_007_199_254_740_993]


def test_types_that_cannot_be_converted_are_told():
    with pytest.raises(InputError) as caught:
        fit_to_schema(pa.table({"at": ["soon"]}), pa.schema([("at", STAMP)]))
    assert caught.value.code == "SW-449"


def test_a_line_that_is_no_json_is_told(tmp_path):
    path = tmp_path / "trace.jsonl"
    path.write_text('{"at": 1}\n{"at": \n')
    with pytest.raises(InputError) as caught:
        Trace(str(path), "at", None, "ms", set_aside=True).table()
    assert caught.value.code == "SW-448"
