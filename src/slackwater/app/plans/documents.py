"""A script as a JSON document: the streams and sinks that it declares, its settings, and its plans in the algebra."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import reduce
from typing import Any, TypeVar

from slackwater.algebra.bind import bind
from slackwater.algebra.catalog import Catalog, Pipeline, Script, SinkDef, StreamDef, check_declared, check_setting
from slackwater.algebra.checks import check
from slackwater.algebra.document import from_document, to_document
from slackwater.algebra.expressions import spark_type
from slackwater.algebra.schema import Field
from slackwater.algebra.sides import with_sides
from slackwater.app.secrets import check_not_hidden, hide_secrets
from slackwater.errors import QueryError

SHOWN = "result"
"""The name of a pipeline that was given as a plan alone, without a sink."""

_D = TypeVar("_D")


def document_of(script: Script) -> dict[str, Any]:
    """Return the script as data for JSON, which `script_of` reads back.

    Secrets are replaced by `***`: fill them in before the document is run.
    """
    plans = [
        {"name": each.name, "sink": each.sink.name if each.sink else None, **to_document(each.plan)}
        for each in script.pipelines
    ]
    return {
        "slackwater": 1,
        "streams": [
            _definition_document(each) | {"fields": {field.name: field.type for field in each.fields}}
            for each in script.streams
        ],
        "sinks": [_definition_document(each) for each in script.sinks],
        "settings": hide_secrets(script.settings),
        "pipelines": plans,
    }


def _definition_document(definition: StreamDef | SinkDef) -> dict[str, Any]:
    return asdict(definition) | {"options": hide_secrets(definition.options)}


def script_of(document: object, name: str = SHOWN) -> Script:
    """Return the script of a document with one `plan` or several `pipelines`, bound and checked.

    A pipeline without a name is called `name` if the document has one `plan`, else `result`.
    """
    if not isinstance(document, Mapping):
        raise QueryError(
            "SW-126", "a plan document must be a JSON object", hint="see what explain --format json writes"
        )
    streams = tuple(_parse_entry(_stream, each, "streams") for each in _list(document, "streams"))
    sinks = tuple(_parse_entry(_sink, each, "sinks") for each in _list(document, "sinks"))
    catalog = reduce(Catalog.with_sink, sinks, reduce(Catalog.with_stream, streams, Catalog()))
    if "plan" in document:
        pipelines = [_pipeline(document, catalog, name)]
    else:
        pipelines = []
        for each in _list(document, "pipelines"):
            pipelines.append(_pipeline(each, catalog, SHOWN))
            catalog = with_sides(catalog, pipelines[-1])
    return Script(streams, (), sinks, tuple(pipelines), settings=_settings(document))


def _settings(document: Mapping[str, Any]) -> dict[str, str]:
    found = document.get("settings", {})
    if not isinstance(found, Mapping) or not all(isinstance(value, str) for value in found.values()):
        raise QueryError("SW-126", "'settings' must be a JSON object of texts", hint="see explain --format json")
    check_not_hidden("the settings", found)
    return {check_setting(name): value for name, value in found.items()}


def _pipeline(body: Mapping[str, Any], catalog: Catalog, otherwise: str) -> Pipeline:
    """Return a pipeline, named `otherwise` if the document states no name."""
    sink = body.get("sink")
    name = check_declared(str(body["name"])) if "name" in body else otherwise
    plan = check(bind(from_document(body), catalog.fill))
    return Pipeline(name, catalog.sink(sink) if sink else None, plan)


def _sink(body: Mapping[str, Any]) -> SinkDef:
    check_declared(body["name"])
    return SinkDef(**body)


def _stream(body: Mapping[str, Any]) -> StreamDef:
    check_declared(body["name"])
    fields = tuple(Field(name, spark_type(kind)) for name, kind in body["fields"].items())
    return StreamDef(**{**body, "fields": fields, "key": tuple(body.get("key", ()))})


def _list(document: Mapping[str, Any], part: str) -> list[Any]:
    found = document.get(part, [])
    if not isinstance(found, list) or not all(isinstance(each, Mapping) for each in found):
        raise QueryError("SW-126", f"'{part}' must be a list of JSON objects", hint="see explain --format json")
    return found


def _parse_entry(make: Callable[[Any], _D], body: Mapping[str, Any], part: str) -> _D:
    try:
        options = {name: _option(value) for name, value in body.get("options", {}).items()}
        check_not_hidden(f"'{body['name']}'", options)
        return make({**body, "options": options})
    except (TypeError, KeyError, ValueError, AttributeError) as cause:
        raise QueryError(
            "SW-166", f"an entry of '{part}' is not right: {cause}", hint="see explain --format json"
        ) from cause


def _option(value: Any) -> str:
    """Return an option as text: a document that is written by hand may have a number or a boolean."""
    return value if isinstance(value, str) else json.dumps(value)
