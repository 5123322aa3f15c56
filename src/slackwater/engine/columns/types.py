"""The Arrow types of Spark's types, which are named as in Spark's DDL."""

from __future__ import annotations

import re

import pyarrow as pa

from slackwater.errors import QueryError

TYPES: dict[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "interval": pa.duration("us"),
    "void": pa.null(),
}
DECIMAL = re.compile(r"decimal\((\d+),(-?\d+)\)")


def known_type(name: str) -> pa.DataType | None:
    """Return the Arrow type of a Spark type, or None if only evaluating the expression tells its type."""
    return None if name == "unknown" else arrow_type(name)


def type_name(kind: pa.DataType) -> str:
    """Return the Spark type of an Arrow type.

    >>> type_name(pa.decimal128(10, 2)), type_name(pa.int64())
    ('decimal(10,2)', 'bigint')
    """
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    return next(name for name, each in TYPES.items() if each == kind)


def arrow_type(name: str) -> pa.DataType:
    """Return the Arrow type of a Spark type.

    >>> arrow_type("decimal(10,2)"), arrow_type("int")
    (Decimal128Type(decimal128(10, 2)), DataType(int32))
    """
    if found := DECIMAL.fullmatch(name):
        return pa.decimal128(int(found[1]), int(found[2]))
    if name not in TYPES:
        raise QueryError(
            "SW-350",
            f"a column of type {name} cannot pass through the fused operator",
            expected=", ".join(TYPES),
            hint="leave the column out of the query, or declare it as STRING",
        )
    return TYPES[name]
