"""Options of our own sources and sinks: one table each, against which given options are checked and parsed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from math import isfinite
from typing import Any, NamedTuple

from slackwater.algebra.lengths import MICROSECONDS, Length
from slackwater.errors import InputError, QueryError, nearest

EVERY_STREAM = "column.NAME, unit.NAME, pattern.NAME"
"""Options that every stream takes in addition to those of its format (see `mapping`)."""
CHANGELOG = "changelog."
"""The prefix of the options that say how a changelog is written (see `operator/writing`)."""


class OptionKind(StrEnum):
    """The kind of an option's value, in the words of an error."""

    TEXT = "text"
    CHOICE = "one of"
    FLAG = "true or false"
    WHOLE = "a whole number"
    NUMBER = "a number"
    TIME = "a time such as '0.5 seconds'"
    MOMENT = "a date such as '2024-01-01'"
    LENGTH = "a time such as '1 second', or '500 rows'"
    PACE = "a multiple of real time, or max"


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its name, the kind of its value, its default, and a sentence about it.

    An option without a default is `required`, or the sentence says what its absence means.
    """

    name: str
    kind: OptionKind
    default: str | None
    about: str
    choices: tuple[str, ...] = ()
    least: float = 0
    required: bool = False

    @property
    def expected(self) -> str:
        if self.choices:
            return f"{OptionKind.CHOICE} {', '.join(self.choices)}"
        if self.kind in (OptionKind.WHOLE, OptionKind.NUMBER):
            return f"{self.kind} of at least {self.least:g}"
        return str(self.kind)

    def parse(self, text: str) -> Any:
        """Return the value of a text; raise ValueError or QueryError if it is not of the option's kind."""
        match self.kind:
            case OptionKind.TEXT:
                return text
            case OptionKind.CHOICE:
                return self.choices[self.choices.index(text.lower())]
            case OptionKind.FLAG:
                return ("false", "true").index(text.lower()) == 1
            case OptionKind.WHOLE:
                return int(self._enough(int(_digits(text))))
            case OptionKind.NUMBER:
                return self._enough(_number(text))
            case OptionKind.TIME:
                return _ticks(text)
            case OptionKind.MOMENT:
                return _moment(text)
            case OptionKind.LENGTH:
                return Length.parse(text)
            case OptionKind.PACE:
                return None if text.lower() == "max" else self._enough(_number(text))

    def _enough(self, number: float) -> float:
        if number < self.least:
            raise ValueError(number)
        return number


class OptionCodes(NamedTuple):
    """The error codes of an unknown option, and of a wrong value of an option."""

    unknown: str
    wrong: str


SOURCE, SINK = OptionCodes("SW-440", "SW-442"), OptionCodes("SW-450", "SW-457")


@dataclass(frozen=True, slots=True)
class OptionTable:
    """The options of a source or a sink. Names that begin with one of `prefixes` are checked elsewhere."""

    name: str
    options: tuple[Option, ...]
    codes: OptionCodes = SOURCE
    prefixes: tuple[str, ...] = ()

    @property
    def listed(self) -> str:
        """Return all valid names, for an error."""
        names = [each.name for each in self.options] + [f"{each}NAME" for each in self.prefixes]
        return ", ".join(names + ([EVERY_STREAM] if self.codes is SOURCE else []))


@dataclass(frozen=True, slots=True)
class Options:
    """The options that one source or sink was given, by name without regard to case, checked against its table.

    >>> mean = Option("mean", OptionKind.TIME, "1 second", "The mean.")
    >>> rows = Option("rows", OptionKind.WHOLE, None, "How many.")
    >>> options = Options(OptionTable("tides", (mean, rows)), {"Mean": "0.4 seconds"})
    >>> options["mean"], options["rows"], options.get("rows", 7)
    (400000, None, 7)
    """

    table: OptionTable
    given: Mapping[str, str]
    owner: str = ""
    values: dict[str, Any] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        known = {each.name.lower(): each for each in self.table.options}
        for name, text in self.given.items():
            if name.lower() in known:
                self.values[name.lower()] = self._parsed(known[name.lower()], text)
            elif not name.lower().startswith(self.table.prefixes or ("\0",)):
                raise self._unknown(name)
        for each in self.table.options:
            if each.required and each.name.lower() not in self.values:
                raise InputError("SW-441", f"{self.who} needs the option '{each.name}'", hint=f"add {each.name} '...'")

    @property
    def who(self) -> str:
        """Return the owner of the options, for an error."""
        return self.owner or f"source {self.table.name}"

    def __getitem__(self, name: str) -> Any:
        """Return the value of an option or its default; None without either."""
        return self.get(name)

    def get(self, name: str, otherwise: Any = None) -> Any:
        """Return the value of an option, or its default, or `otherwise`."""
        if name.lower() in self.values:
            return self.values[name.lower()]
        option = next(each for each in self.table.options if each.name.lower() == name.lower())
        return otherwise if option.default is None else option.parse(option.default)

    def wrong(self, name: str, text: str, expected: str, hint: str = "") -> InputError:
        """Return the error about an option whose text cannot be used."""
        told = f"option {name} of {self.who} is '{text}'"
        return InputError(self.table.codes.wrong, told, expected=expected, hint=hint or f"write {expected}")

    def _parsed(self, option: Option, text: str) -> Any:
        try:
            return option.parse(text.strip() if option.kind is not OptionKind.TEXT else text)
        except (ValueError, QueryError) as cause:
            hint = nearest(text, option.choices) if option.choices else ""
            raise self.wrong(option.name, text, option.expected, hint) from cause

    def _unknown(self, name: str) -> InputError:
        hint = nearest(name, [each.name for each in self.table.options])
        near = hint if hint.startswith("did") else "remove it, or write one of these"
        told = f"{self.who} has no option '{name}'"
        return InputError(self.table.codes.unknown, told, expected=self.table.listed, hint=near)


def _digits(text: str) -> str:
    plain = text.replace("_", "")
    if not plain.isdigit():
        raise ValueError(text)
    return plain


def _number(text: str) -> float:
    found = float(text)
    if not isfinite(found):
        raise ValueError(text)
    return found


def _ticks(text: str) -> int:
    """Return the ticks of a length of time, whose number may have a fraction."""
    number, _, unit = text.partition(" ")
    amount = _number(number)
    if amount < 0 or unit.strip().lower().removesuffix("s") not in MICROSECONDS:
        raise ValueError(text)
    return round(amount * MICROSECONDS[unit.strip().lower().removesuffix("s")])


def _moment(text: str) -> int:
    """Return the ticks since 1970 of a date and time, which is in UTC unless it states a time zone."""
    moment = datetime.fromisoformat(text)
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1_000_000)
