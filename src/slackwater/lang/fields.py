"""Check paths of field names in struct types."""

from __future__ import annotations

from sqlglot import exp

from slackwater.algebra.expressions import DIALECT, text
from slackwater.algebra.schema import UNKNOWN
from slackwater.errors import QueryError, nearest

OPAQUE = ("unknown", "variant", "map", "array")
"""Types in which only Spark can follow a path."""


def check_path(kind: str, path: list[str]) -> None:
    """Raise if a type does not have the field that the path names.

    >>> check_path("struct<x:int,y:struct<z:string>>", ["y", "z"])
    >>> check_path("int", ["x"])
    Traceback (most recent call last):
    slackwater.errors.QueryError: SW-201: there is no field 'x' in a column of type int
      expected: a column of a struct type
      do: name the column alone
    """
    for name in path:
        built = exp.DataType.build(kind, dialect=DIALECT)
        if built.is_type(*OPAQUE):
            return
        fields = {each.name.lower(): each.args.get("kind") for each in built.expressions}
        if name.lower() not in fields:
            raise QueryError(
                "SW-201",
                f"there is no field '{name}' in a column of type {kind}",
                expected="a field of: " + ", ".join(fields) if fields else "a column of a struct type",
                hint=nearest(name, fields) if fields else "name the column alone",
            )
        inner = fields[name.lower()]
        kind = text(inner) if inner is not None else UNKNOWN
