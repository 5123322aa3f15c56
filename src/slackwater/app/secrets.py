"""Hide secrets: passwords and keys among the options and settings of a script, and inside their values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from slackwater.algebra.catalog import Script
from slackwater.errors import InputError, SlackwaterError

HIDDEN = "***"
"""The text that replaces a secret."""
ANYWHERE, ALONE = 8, 4
"""Characters. A secret of at least ANYWHERE is hidden wherever it stands, one of at least ALONE where it is a whole
word. A shorter secret is hidden only after = : / or a quote: elsewhere it is probably an ordinary word."""
_WORDS = (
    r"(?:pass(?:word|wd|phrase)|pwd|secret|token|credential|jaas|auth\.user\.info"
    r"|(?:access|account|api|private|shared|encryption|keystore)[._ -]?key(?!_?name))"
)
NAME = re.compile(rf"{_WORDS}(?!.*(?:_env|provider)$)", re.IGNORECASE)
"""Names of options that hold a secret. The name of a variable (`password_env`) or of a provider class is none."""
VALUES = (
    re.compile(r"://[^/\s:@]*:(?P<secret>[^/\s]+)@"),
    re.compile(r"jdbc:oracle:\w+:[^/\s]+/(?P<secret>[^@\s]+)@", re.IGNORECASE),
    re.compile(rf"{_WORDS}[\w.-]*\s*=\s*(?P<secret>\"[^\"]*\"|'[^']*'|\{{[^}}]*\}}|[^&;\s]+)", re.IGNORECASE),
    re.compile(rf"{_WORDS}[\w.-]*[\"']\s*:\s*[\"'](?P<secret>[^\"']+)[\"']", re.IGNORECASE),
)
"""Secrets inside a value: a password in an address, a parameter (`password=...`), an entry of a JSON object."""
_OPTION = re.compile(r"""['"`]?([\w.-]+)['"`]?\s*=?\s*(?:'([^']*)'|"([^"]*)"|(\S+))""")
"""An option of a statement: its name, and its value in quotes or as one word."""


def hide_secrets(options: Mapping[str, str]) -> dict[str, str]:
    """Return options with every value or part of a value that looks like a secret replaced by `***`.

    >>> hide_secrets({"table": "tolls", "password": "tide", "password_env": "PGPASSWORD"})
    {'table': 'tolls', 'password': '***', 'password_env': 'PGPASSWORD'}
    >>> hide_secrets({"url": "jdbc:postgresql://low:tide@db/tolls?password=tide&ssl=true"})
    {'url': 'jdbc:postgresql://low:***@db/tolls?password=***&ssl=true'}
    """
    return {name: HIDDEN if _is_secret(name, value) else _hide_in_value(value) for name, value in options.items()}


def holds_secret(text: str) -> bool:
    """Return whether a statement has a secret among its options, which no file may keep.

    >>> holds_secret("CREATE SINK s USING postgres OPTIONS (password 'tide')")
    True
    >>> holds_secret("CREATE SINK s USING postgres OPTIONS (password_env 'PGPASSWORD')")
    False
    """
    given = {name: one or two or three for name, one, two, three in _OPTION.findall(text)}
    return hide_secrets(given) != given or hide_secrets({"text": text}) != {"text": text}


def _is_secret(name: str, value: str) -> bool:
    """Return whether the whole value is a secret. A switch such as `use_token = true` is not secret."""
    return bool(NAME.search(name)) and value.lower() not in ("", "true", "false")


def _hide_in_value(value: str) -> str:
    for pattern in VALUES:
        for found in reversed(list(pattern.finditer(value))):
            value = value[: found.start("secret")] + HIDDEN + value[found.end("secret") :]
    return value


def secrets_in(options: Mapping[str, str]) -> Iterator[str]:
    """Return the secrets of some options, each without the quotes around it."""
    for name, value in options.items():
        if _is_secret(name, value):
            yield value
        else:
            yield from (found["secret"].strip("\"'{}") for pattern in VALUES for found in pattern.finditer(value))


def mask_secrets(script: Script, text: str) -> str:
    """Return a text that Spark or a server wrote with every secret of the script replaced by `***`."""
    parts = [*(each.options for each in script.streams), *(each.options for each in script.sinks), script.settings]
    known = {secret for options in parts for secret in secrets_in(options) if secret}
    for secret in sorted(known, key=len, reverse=True):
        text = re.sub(_occurrence(secret), HIDDEN, text)
    return text


def _occurrence(secret: str) -> str:
    """Return the pattern that finds a secret in a text. It does not match a short secret inside ordinary words.

    >>> [bool(re.search(_occurrence("x"), text)) for text in ("export x", "password=x", "'x'")]
    [False, True, True]
    """
    if len(secret) >= ANYWHERE:
        return re.escape(secret)
    before = r"(?<!\w)" if len(secret) >= ALONE else r"(?<=[=:/'\"])"
    return rf"{before}{re.escape(secret)}(?!\w)"


@contextmanager
def mask_errors(script: Script) -> Iterator[None]:
    """Replace the secrets of the script by `***` in errors that pass through: they may quote Spark or a server."""
    try:
        yield
    except SlackwaterError as error:
        problem = error.problem
        error.problem = replace(
            problem, message=mask_secrets(script, problem.message), hint=mask_secrets(script, problem.hint)
        )
        error.args = (problem.code, error.problem.message)
        raise


def check_not_hidden(owner: str, options: Mapping[str, str]) -> None:
    """Raise an error if a value is the `***` that replaced a secret when the document was written."""
    for name, value in options.items():
        if HIDDEN in secrets_in({name: value}):
            raise InputError(
                "SW-410",
                f"'{name}' of {owner} was hidden when this document was written",
                expected=f"its value in the place of {HIDDEN}",
                hint="write the value there, or run the SQL file, in which ${NAME} takes it from the environment",
            )
