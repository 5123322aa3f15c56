"""Options as users write them."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

from slackwater.algebra.lengths import MICROSECONDS, Length, ticks_of
from slackwater.algebra.policies import parse_ratio
from slackwater.app.plans.formats import Format
from slackwater.disorder.replay.trace import AUTO, UNITS
from slackwater.errors import InputError, nearest


def parse_duration(text: str | None) -> float | None:
    """Return the seconds of a time such as `20 seconds`.

    >>> parse_duration("2 minutes")
    120.0
    """
    ticks = ticks_of(text)
    return None if ticks is None else ticks / MICROSECONDS["second"]


def parse_share(text: str) -> float:
    """Return the drop ratio that a text such as `1%` states."""
    return parse_ratio(text) or 0.0


def parse_batch(text: str) -> Length:
    """Return the length of a micro-batch: a time of arrival, or a number of rows."""
    return Length.parse(text)


def parse_unit(text: str) -> str:
    """Return the unit of times that are written as numbers, after a check."""
    if text not in (*UNITS, AUTO):
        units = ", ".join((*UNITS, AUTO))
        raise InputError(
            "SW-414", f"'{text}' is not a unit of recorded times", expected=units, hint="choose one of them"
        )
    return text


def parse_format(text: str) -> Format:
    """Return the format in which plans are explained.

    >>> parse_format("svg").is_picture
    True
    """
    try:
        return Format(text)
    except ValueError as cause:
        raise InputError(
            "SW-415", f"plans are not explained as '{text}'", expected=", ".join(Format), hint=nearest(text, Format)
        ) from cause


def parse_folder(text: str) -> str:
    """Return the path of a local folder that was given as a `file:` address; any other folder as it was given.

    >>> parse_folder("file:///var/high%20tides"), parse_folder("var/tides"), parse_folder("s3a://bucket/tides")
    ('/var/high tides', 'var/tides', 's3a://bucket/tides')
    """
    address = urlsplit(text)
    local = address.scheme.lower() == "file" and address.netloc in ("", "localhost")
    return unquote(address.path) if local else text


def parse_conf(settings: Iterable[str]) -> dict[str, str]:
    """Return settings of Spark by name; each is given as `spark.name=value`.

    >>> parse_conf(["spark.executor.memory=4g"])
    {'spark.executor.memory': '4g'}
    """
    found = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.startswith("spark."):
            # The error names no value, because a value may be a secret.
            raise InputError(
                "SW-418",
                f"'{name}' is not a setting of Spark with a value",
                expected="spark.NAME=VALUE",
                hint="for example --conf spark.executor.memory=4g",
            )
        found[name] = value
    return found
