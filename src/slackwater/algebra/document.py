"""Plans as JSON documents, to exchange them with other programs or to write them directly in the algebra."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from enum import Enum
from typing import Any, cast

from slackwater.algebra.lengths import Length
from slackwater.algebra.nodes import INPUTS, NODES, Item, Mode, Plan, Policy
from slackwater.algebra.schema import UNKNOWN, Expr, Field
from slackwater.errors import QueryError, nearest

VERSION = 1
DEEPEST = 200
"""The most nested operators of a document. Deeper ones could exhaust the stack."""
OPERATORS = {node.__name__.lower(): node for node in NODES}


def to_document(plan: Plan) -> dict[str, Any]:
    """Return the plan as lists, dicts, strings and numbers.

    >>> from slackwater.algebra.nodes import Scan
    >>> to_document(Scan("Pulse", "P", (Field("Id", "int"),), "ts"))["plan"]["fields"]
    [{'name': 'Id', 'type': 'int'}]
    """
    return {"slackwater": VERSION, "plan": _encoded(plan)}


def from_document(document: object) -> Plan:
    """Return the plan that a document describes. `bind` fills in and checks its columns and types."""
    body = _mapping(document, "the document")
    if body.get("slackwater") != VERSION:
        raise QueryError(
            "SW-160",
            f"version {body.get('slackwater')!r} of the plan document is not known",
            expected=f'"slackwater": {VERSION}',
            hint="write the plan anew with explain --format json",
        )
    return _plan(body.get("plan"), 0)


def _encoded(value: Any) -> Any:
    match value:
        case Length():
            return str(value)
        case Enum():
            return value.value
        case Item(name=name, expr=expr):
            return {"name": name, **_encoded(expr)}
        case tuple():
            return [_encoded(each) for each in value]
        case str() | int() | float() | None:
            return value
        case _:
            stated = {
                field.name: _encoded(getattr(value, field.name))
                for field in fields(value)
                if getattr(value, field.name) != field.default or field.default is MISSING
            }
            operator = type(value).__name__.lower()
            return {"op": operator, **stated} if operator in OPERATORS else stated


def _plan(value: object, depth: int) -> Plan:
    body = dict(_mapping(value, "a plan"))
    name = body.pop("op", None)
    operator = OPERATORS.get(name) if isinstance(name, str) else None
    if operator is None:
        raise QueryError(
            "SW-161",
            f"there is no operator {name!r}",
            expected='"op": one of ' + ", ".join(OPERATORS),
            hint=nearest(str(name), OPERATORS),
        )
    if depth > DEEPEST:
        raise QueryError("SW-162", f"a plan of more than {DEEPEST} operators in a row", hint="split it into views")
    known = {field.name for field in fields(operator)}
    needed = {field.name for field in fields(operator) if field.default is MISSING}
    for key in body.keys() - known:
        raise QueryError("SW-163", f"{name} has no part '{key}'", hint=nearest(key, known))
    for key in sorted(needed - body.keys()):
        raise QueryError("SW-164", f"{name} needs '{key}'", hint=f'add "{key}" to it')
    parts = {
        key: _plan(part, depth + 1) if key in INPUTS else _part(DECODERS.get(key, _text_or_flag), part, key)
        for key, part in body.items()
    }
    return cast(Plan, operator(**parts))


def _part(decode: Callable[[Any], Any], value: Any, key: str) -> Any:
    try:
        return decode(value)
    except (TypeError, KeyError, ValueError, AttributeError) as cause:
        raise QueryError(
            "SW-165", f"'{key}' cannot be {str(value)[:60]!r}", hint="see what explain --format json writes for it"
        ) from cause


def _mapping(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise QueryError("SW-126", f"{what} must be a JSON object", hint="see what explain --format json writes")
    return value


def _text_or_flag(value: Any) -> Any:
    if value is not None and not isinstance(value, str | bool | int):
        raise TypeError(value)
    return value


def _expr(value: Any) -> Expr:
    return Expr(value, UNKNOWN) if isinstance(value, str) else Expr(str(value["sql"]), str(value.get("type", UNKNOWN)))


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not all(isinstance(each, str) for each in value):
        raise TypeError(value)
    return tuple(value)


DECODERS: dict[str, Callable[[Any], Any]] = {
    "range": Length.parse,
    "every": Length.parse,
    "by": _texts,
    "key": _texts,
    "declared_key": lambda value: tuple(_expr(each) for each in value),
    "condition": lambda value: None if value is None else _expr(value),
    "items": lambda value: tuple(Item(str(each["name"]), _expr(each)) for each in value),
    "group": lambda value: tuple(Item(str(each["name"]), _expr(each)) for each in value),
    "aggregates": lambda value: tuple(Item(str(each["name"]), _expr(each)) for each in value),
    "fields": lambda value: tuple(Field(**each) for each in value),
    "policy": lambda value: Policy(**value),
    "mode": Mode,
}
