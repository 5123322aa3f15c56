"""The PostgreSQL types of Spark's types, and which existing columns can store them."""

from __future__ import annotations

import re

SAME = {
    "boolean": "boolean",
    "tinyint": "smallint",
    "smallint": "smallint",
    "int": "integer",
    "bigint": "bigint",
    "float": "real",
    "double": "double precision",
    "string": "text",
    "binary": "bytea",
    "date": "date",
    "timestamp": "timestamp with time zone",
    "timestamp_ntz": "timestamp without time zone",
}
WIDER = {
    "smallint": {"integer", "bigint", "numeric", "real", "double precision"},
    "integer": {"bigint", "numeric", "double precision"},
    "bigint": {"numeric"},
    "real": {"double precision"},
    "text": {"character varying"},
    "jsonb": {"json", "text"},
}
"""The other column types that can store every value of a type."""


def postgres_type(spark: str) -> str:
    """Return the column type that is created for a Spark type. Nested types become JSON.

    >>> postgres_type("bigint"), postgres_type("decimal(10,2)"), postgres_type("array<int>")
    ('bigint', 'numeric(10,2)', 'jsonb')
    """
    if spark.startswith("decimal"):
        return spark.replace("decimal", "numeric")
    if spark.startswith(("varchar", "char")):
        return "text"
    if spark.startswith("interval"):
        return "interval"
    return SAME.get(spark, "jsonb")


def holds(column: str, spark: str) -> bool:
    """Return whether an existing column (its type as `format_type` writes it) takes every value of a Spark type.

    >>> holds("numeric", "bigint"), holds("integer", "bigint"), holds("numeric(12,2)", "decimal(10,2)")
    (True, False, True)
    """
    wanted = postgres_type(spark)
    if column == wanted:
        return True
    plain = column.partition("(")[0]
    if wanted.startswith("numeric"):
        return plain == "numeric" and _is_wider(column, wanted)
    return plain in WIDER.get(wanted, ()) and plain in (column, "character varying")


def _is_wider(column: str, wanted: str) -> bool:
    """Return whether a `numeric(p,s)` has at least as many digits on both sides of the point."""
    if column == "numeric":
        return True
    (has, has_places), (needs, places) = (map(int, re.findall(r"\d+", each)) for each in (column, wanted))
    return has_places >= places and has - has_places >= needs - places
