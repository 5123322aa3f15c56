"""Options as users write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from slackwater.algebra.lengths import MICROSECONDS, Length, ticks_of
from slackwater.algebra.ratios import parse_ratio
from slackwater.app.formats import Format
from slackwater.disorder.replay.trace import AUTO, UNITS
from slackwater.errors import InputError, nearest


def parse_duration(text: str | None) -> float | None:
    """Seconds from a time such as `20 seconds`.

    >>> parse_duration("2 minutes")
    120.0
    """
    ticks = ticks_of(text)
    return None if ticks is None else ticks / MICROSECONDS["second"]


def parse_share(text: str) -> float:
    """Return the drop ratio that a text such as `1%` states."""
    return parse_ratio(text) or 0.0


def parse_batch(text: str) -> Length:
    """A micro-batch: a time of arrival, or a number of rows."""
    return Length.parse(text)


def parse_unit(text: str) -> str:
    """The unit of times that are written as numbers."""
    if text not in (*UNITS, AUTO):
        units = ", ".join((*UNITS, AUTO))
        raise InputError(
            "SW-414", f"'{text}' is not a unit of recorded times", expected=units, hint="choose one of them"
        )
    return text


def parse_format(text: str) -> Format:
    """The name of a form in which plans are explained.

    >>> parse_format("svg").is_picture
    True
    """
    try:
        return Format(text)
    except ValueError as cause:
        raise InputError(
            "SW-415", f"plans are not explained as '{text}'", expected=", ".join(Format), hint=nearest(text, Format)
        ) from cause


def parse_folder(text: str) -> Path:
    """A folder that this machine sees as a path, which may be given as an address, `file:///var/tides`.

    >>> parse_folder("file:///var/high%20tides"), parse_folder("var/tides")
    (PosixPath('/var/high tides'), PosixPath('var/tides'))
    """
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", text):
        return Path(text)
    address = urlsplit(text)
    if address.scheme.lower() != "file" or address.netloc not in ("", "localhost"):
        raise InputError(
            "SW-409",
            f"'{text}' is not in a file system of this machine",
            expected="a path, or file:///path",
            hint="mount the store as a folder: ticks and the log of batches are read there and renamed into place",
        )
    return Path(unquote(address.path))


def parse_conf(settings: Iterable[str]) -> dict[str, str]:
    """Spark's own settings, each as `spark.name=value`.

    >>> parse_conf(["spark.executor.memory=4g"])
    {'spark.executor.memory': '4g'}
    """
    found = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.startswith("spark."):
            # A value may be a secret, and so it is not told.
            raise InputError(
                "SW-418",
                f"'{name}' is not a setting of Spark with a value",
                expected="spark.NAME=VALUE",
                hint="for example --conf spark.executor.memory=4g",
            )
        found[name] = value
    return found
