"""Options of a source: texts that become numbers and lengths, or an error that names the option."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite

from slackwater.algebra.lengths import MICROSECONDS
from slackwater.errors import InputError, nearest


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one source, by name without regard to case.

    >>> options = Options("generate", {"Mean": "0.4 seconds", "rows": "10"})
    >>> options.time("mean", "1 second"), options.whole("rows", 5), options.whole("seed", 0)
    (400000, 10, 0)
    """

    source: str
    given: Mapping[str, str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "given", {name.lower(): value for name, value in self.given.items()})

    def only(self, known: Iterable[str]) -> None:
        """Complains about an option that nobody would read."""
        names = list(known)
        for name in self.given:
            if name not in names:
                raise InputError(
                    "SW-440", f"source {self.source} has no option '{name}'", hint=nearest(name, names)
                )  # fmt: skip

    def text(self, name: str, default: str | None = None) -> str:
        found = self.given.get(name, default)
        if found is None:
            raise InputError("SW-441", f"source {self.source} needs the option '{name}'", hint=f"add {name} '...'")
        return found

    def choice(self, name: str, choices: Iterable[str], default: str) -> str:
        known, found = list(choices), self.text(name, default).lower()
        if found not in known:
            raise self.wrong(name, found, "one of " + ", ".join(known), nearest(found, known))
        return found

    def whole(self, name: str, default: int | None, *, least: int = 0) -> int | None:
        if name not in self.given:
            return default
        text = self.given[name].strip().replace("_", "")
        if not text.isdigit() or int(text) < least:
            raise self.wrong(name, self.given[name], f"a whole number of at least {least}")
        return int(text)

    def number(self, name: str, default: float, *, least: float = 0.0) -> float:
        found = _number(self.given.get(name, str(default)))
        if found is None or found < least:
            raise self.wrong(name, self.given[name], f"a number of at least {least:g}")
        return found

    def time(self, name: str, default: str) -> int:
        """A length of time in ticks; the number may have a fraction."""
        text = self.text(name, default).strip()
        number, _, unit = text.partition(" ")
        ticks, amount = MICROSECONDS.get(unit.strip().lower().removesuffix("s")), _number(number)
        if ticks is None or amount is None or amount < 0:
            raise self.wrong(name, text, "a time such as '0.5 seconds'")
        return round(amount * ticks)

    def wrong(self, name: str, value: str, expected: str, hint: str = "") -> InputError:
        return InputError(
            "SW-442", f"option {name} of source {self.source} is '{value}'", expected=expected, hint=hint
        )  # fmt: skip


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if isfinite(found) else None
