"""Read a script from a SQL file, or a plan from a JSON document."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from slackwater.algebra.catalog import Script
from slackwater.app.plans.documents import script_of
from slackwater.errors import InputError
from slackwater.lang import parse_script


def load(path: Path, settings: Iterable[str] = (), spark: Mapping[str, str] | None = None) -> Script:
    """Return the script of a `.sql` file or a `.json` plan.

    `settings` are texts NAME=value that fill `${NAME}` and override the environment. Settings in `spark` override
    those of the file.
    """
    text = read_text(path)
    if path.suffix.lower() == ".json":
        script = script_of(_json(text, path), path.stem)
    else:
        script = parse_script(text, file=path.name, variables=variables(settings))
    return replace(script, settings={**script.settings, **(spark or {})})


def load_given(path: Path | None, text: str | None, settings: Iterable[str] = ()) -> Script:
    """Return the script of a file, or of a text that is given in its place."""
    if (path is None) == (text is None):
        raise InputError(
            "SW-427",
            "there is neither a file nor -c TEXT" if path is None else "there is a file as well as -c TEXT",
            expected="one of the two",
            hint='write slackwater run FILE, or slackwater run -c "SELECT ..."',
        )
    if path is not None:
        return load(path, settings)
    return parse_script(text or "", file="-c", variables=variables(settings))


def read_text(path: Path) -> str:
    """Return the text of a file; raise an error that says why it cannot be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as cause:
        raise InputError("SW-401", f"there is no file {path}", hint="check the path") from cause
    except (OSError, UnicodeDecodeError) as cause:
        reason = "it is not UTF-8 text" if isinstance(cause, UnicodeDecodeError) else (cause.strerror or "").lower()
        raise InputError("SW-402", f"{path} cannot be read: {reason}", hint="give a text file in UTF-8") from cause


def variables(settings: Iterable[str]) -> Mapping[str, str]:
    """Return the values for `${NAME}`: the environment, overridden by the `NAME=value` settings."""
    given = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.isidentifier():
            # The error names no value, because a value may be a secret.
            raise InputError(
                "SW-403",
                f"'{name}' has no value or is no name",
                expected="NAME=value",
                hint="write --set NAME=value",
            )
        given[name] = value
    return {**os.environ, **given}


def _json(text: str, path: Path) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as cause:
        raise InputError("SW-404", f"{path} is not JSON: {cause}", hint="see explain --format json") from cause
