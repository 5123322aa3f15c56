"""What may not be shown: passwords and keys among the options and settings of a script, and inside their values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from slackwater.algebra.catalog import Script
from slackwater.errors import InputError, SlackwaterError

HIDDEN = "***"
"""What stands where a secret was."""
ANYWHERE, ALONE = 8, 4
"""Characters from which a secret is hidden inside a word, and as a word; a shorter one only after = : / or a quote."""
_WORDS = (
    r"(?:pass(?:word|wd|phrase)|pwd|secret|token|credential|jaas|auth\.user\.info"
    r"|(?:access|account|api|private|shared|encryption|keystore)[._ -]?key(?!_?name))"
)
NAME = re.compile(rf"{_WORDS}(?!.*(?:_env|provider)$)", re.IGNORECASE)
"""The name of a secret. The variable that holds one (`password_env`), or who provides it, is none."""
VALUES = (
    re.compile(r"://[^/\s:@]*:(?P<secret>[^/\s]+)@"),
    re.compile(r"jdbc:oracle:\w+:[^/\s]+/(?P<secret>[^@\s]+)@", re.IGNORECASE),
    re.compile(rf"{_WORDS}[\w.-]*\s*=\s*(?P<secret>\"[^\"]*\"|'[^']*'|\{{[^}}]*\}}|[^&;\s]+)", re.IGNORECASE),
    re.compile(rf"{_WORDS}[\w.-]*[\"']\s*:\s*[\"'](?P<secret>[^\"']+)[\"']", re.IGNORECASE),
)
"""Secrets inside a value: of a user in an address, of a parameter (`password=...`), of a part of a JSON object."""


def without_secrets(options: Mapping[str, str]) -> dict[str, str]:
    """Options as they may be shown: what looks like a secret is not.

    >>> without_secrets({"table": "tolls", "password": "tide", "password_env": "PGPASSWORD"})
    {'table': 'tolls', 'password': '***', 'password_env': 'PGPASSWORD'}
    >>> without_secrets({"url": "jdbc:postgresql://low:tide@db/tolls?password=tide&ssl=true"})
    {'url': 'jdbc:postgresql://low:***@db/tolls?password=***&ssl=true'}
    """
    return {name: HIDDEN if _is_secret(name, value) else _hidden(value) for name, value in options.items()}


def _is_secret(name: str, value: str) -> bool:
    """Whether the value as a whole is one; that a secret is wanted, or is not, is none."""
    return bool(NAME.search(name)) and value.lower() not in ("", "true", "false")


def _hidden(value: str) -> str:
    for pattern in VALUES:
        for found in reversed(list(pattern.finditer(value))):
            value = value[: found.start("secret")] + HIDDEN + value[found.end("secret") :]
    return value


def secrets_in(options: Mapping[str, str]) -> Iterator[str]:
    """The secrets of some options, each without the quotes around it."""
    for name, value in options.items():
        if _is_secret(name, value):
            yield value
        else:
            yield from (found["secret"].strip("\"'{}") for pattern in VALUES for found in pattern.finditer(value))


def masked(script: Script, text: str) -> str:
    """A text that Spark or a server wrote, as it may be shown: without the script's secrets, wherever they stand."""
    parts = [*(each.options for each in script.streams), *(each.options for each in script.sinks), script.settings]
    known = {secret for options in parts for secret in secrets_in(options) if secret}
    for secret in sorted(known, key=len, reverse=True):
        text = re.sub(_occurrence(secret), HIDDEN, text)
    return text


def _occurrence(secret: str) -> str:
    """Return the pattern of a secret in a text. A short secret that is part of a word, or is a word, is not meant.

    >>> [bool(re.search(_occurrence("x"), text)) for text in ("export x", "password=x", "'x'")]
    [False, True, True]
    """
    if len(secret) >= ANYWHERE:
        return re.escape(secret)
    before = r"(?<!\w)" if len(secret) >= ALONE else r"(?<=[=:/'\"])"
    return rf"{before}{re.escape(secret)}(?!\w)"


@contextmanager
def masked_errors(script: Script) -> Iterator[None]:
    """Errors that quote Spark or a server do not quote the secrets that these were given."""
    try:
        yield
    except SlackwaterError as error:
        problem = error.problem
        error.problem = replace(problem, message=masked(script, problem.message), hint=masked(script, problem.hint))
        error.args = (problem.code, error.problem.message)
        raise


def check_shown(owner: str, options: Mapping[str, str]) -> None:
    """What was hidden when a document was written is not a value to run with."""
    for name, value in options.items():
        if HIDDEN in secrets_in({name: value}):
            raise InputError(
                "SW-410",
                f"'{name}' of {owner} was hidden when this document was written",
                expected=f"its value in the place of {HIDDEN}",
                hint="write the value there, or run the SQL file, in which ${NAME} takes it from the environment",
            )
