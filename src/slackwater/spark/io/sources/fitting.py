"""A recorded table with the columns and types that a stream declares; rows that do not fit are set aside."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from slackwater.disorder.replay.trace import RAW
from slackwater.errors import InputError

EXACT = 2.0**53
"""A float can represent every whole number up to this one."""
DIGITS = r"^[+-]?0*\d{1,19}(?:\.0*)?$"
NUMBER = r"^(?i:[+-]?(?:nan|inf|infinity)|[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)$"


def fit_to_schema(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return the table's columns with the names and types of `schema`.

    If `schema` has a column RAW, a row with a value of another type gets NULL in every other column, and RAW holds its
    text, or its values as JSON. Without RAW, a value of another type is an error.

    >>> table = pa.table({"ID": ["1", "x"], "v": [1.5, 2.5]})
    >>> fit_to_schema(table, pa.schema([("id", pa.int32()), ("v", pa.float64()), (RAW, pa.string())])).to_pylist()
    [{'id': 1, 'v': 1.5, '__slackwater_raw': None},
     {'id': None, 'v': None, '__slackwater_raw': '{"ID": "x", "v": 2.5}'}]
    """
    known = {name.lower(): column for name, column in zip(table.column_names, table.columns, strict=True)}
    given = [known[each.name.lower()] for each in schema if each.name != RAW]
    kinds = [each.type for each in schema if each.name != RAW]
    if RAW not in schema.names:
        return pa.Table.from_arrays([_cast(*pair) for pair in zip(given, kinds, strict=True)], schema=schema)
    found = [_cast_or_null(*pair) for pair in zip(given, kinds, strict=True)]
    misfits = [pc.and_(pc.is_null(new), pc.is_valid(old)) for new, old in zip(found, given, strict=True)]
    bad = np.logical_or.reduce([each.to_numpy(zero_copy_only=False) for each in misfits])
    text = known.get(RAW, pa.chunked_array([pa.nulls(table.num_rows, pa.string())]))
    raw = pc.coalesce(text, _described(table, bad))
    whole = pc.is_null(raw)
    columns = {name: pc.if_else(whole, column, None) for name, column in zip(_names(schema), found, strict=True)}
    return pa.table(columns | {RAW: raw}).select(schema.names).cast(schema)


def _names(schema: pa.Schema) -> list[str]:
    return [name for name in schema.names if name != RAW]


def _described(table: pa.Table, bad: np.ndarray) -> pa.Array:
    """Return the values of each bad row as JSON, and NULL for the others."""
    texts = np.full(table.num_rows, None, object)
    plain = table.drop([RAW]) if RAW in table.column_names else table
    texts[bad] = [json.dumps(row, default=str) for row in plain.filter(pa.array(bad)).to_pylist()]
    return pa.array(texts, pa.string())


def _cast_or_null(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """Return the column converted to a type. A value that is not a number of that type becomes NULL."""
    try:
        return column.cast(kind, safe=pa.types.is_integer(kind))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            return _cast(column, kind)
    return pa.chunked_array([_fitting(chunk, kind) for chunk in column.chunks], kind)


def _fitting(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return values as numbers of a type, or NULL. Whole numbers are read from digits: a float would round them."""
    if pa.types.is_integer(column.type):
        return _whole(column.cast(pa.decimal128(20, 0)), kind)
    numbers = _floats(column)
    if pa.types.is_floating(kind):
        return numbers.cast(kind, safe=False)
    whole = _whole(pc.if_else(pc.equal(pc.floor(numbers), numbers), numbers, None), kind)
    if not pa.types.is_string(column.type):
        return whole
    digits = pc.replace_substring_regex(_matching(column, DIGITS), r"^\+|\.0*$", "")
    read = _whole(digits.cast(pa.decimal128(38, 0)), kind)
    return pc.coalesce(read, pc.if_else(pc.less_equal(pc.abs(numbers), EXACT), whole, None))


def _whole(numbers: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return whole numbers in a type, or NULL where they do not fit. 2^63, the float next to BIGINT's end, does not."""
    least, most = -(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1) - 1
    if pa.types.is_floating(numbers.type):
        fits = pc.and_(pc.greater_equal(numbers, float(least)), pc.less(numbers, float(most + 1)))
    else:
        edges = (pa.scalar(edge, pa.decimal128(38, 0)) for edge in (least, most))
        fits = pc.and_(pc.greater_equal(numbers, next(edges)), pc.less_equal(numbers, next(edges)))
    return pc.if_else(fits, numbers, None).cast(kind)


def _matching(column: pa.Array, pattern: str) -> pa.Array:
    """Return texts without the blanks around them, or NULL where they do not match."""
    texts = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.match_substring_regex(texts, pattern), texts, None)


def _floats(column: pa.Array) -> pa.Array:
    """Return values as floats; NULL for a value that is not a number."""
    if pa.types.is_string(column.type):
        return pc.replace_substring_regex(_matching(column, NUMBER), r"^\+", "").cast(pa.float64())
    numbers = pd.to_numeric(column.to_pandas().astype(object), errors="coerce").to_numpy(np.float64)
    return pa.array(numbers, pa.float64(), from_pandas=True)


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    try:
        return column.cast(kind, safe=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as cause:
        raise InputError(
            "SW-449",
            f"the trace has {column.type} where the stream declares {kind}: {cause}",
            expected="a type that the recorded values have",
            hint="declare the column as STRING and convert it in the query",
        ) from cause
