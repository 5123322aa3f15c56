"""The root error: a stable code, the place in the query text as data, and a hint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a text: line and column from 1, the line itself, the number of characters."""

    line: int
    column: int
    text: str
    length: int = 1
    file: str = "query"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def underline(self) -> str:
        """Return the line with the characters underlined; a very long line is shown in part."""
        first = max(0, self.column - 61) if len(self.text) > 120 else 0
        shown = self.text[first : first + 120]
        width = max(1, min(self.length, len(shown) - (self.column - 1 - first)))
        gutter = str(self.line)
        return f"  {gutter} | {shown}\n  {' ' * len(gutter)} | {' ' * (self.column - 1 - first)}{'^' * width}"


@dataclass(frozen=True, slots=True)
class Problem:
    """An error as data: the code is stable, the texts may be reworded."""

    code: str
    message: str
    expected: str = ""
    hint: str = ""
    place: Place | None = None


class SlackwaterError(Exception):
    """The root of all errors that Slackwater raises on purpose.

    >>> raise SlackwaterError("SW-400", "no such thing", hint="name another")
    Traceback (most recent call last):
    slackwater.errors.SlackwaterError: SW-400: no such thing
      do: name another
    """

    def __init__(
        self, code: str, message: str, *, expected: str = "", hint: str = "", place: Place | None = None
    ) -> None:
        self.problem = Problem(code, message, expected, hint, place)
        super().__init__(code, message)

    @property
    def code(self) -> str:
        return self.problem.code

    @property
    def place(self) -> Place | None:
        return self.problem.place

    def at(self, place: Place) -> SlackwaterError:
        """Return the same error with its place in the text, unless it has one already."""
        if self.problem.place is None:
            self.problem = replace(self.problem, place=place)
        return self

    def within(self, what: str) -> SlackwaterError:
        """Return the same error with the name of its plan, unless its place or its message says so."""
        if self.problem.place is None and what not in self.problem.message:
            self.problem = replace(self.problem, message=f"in {what}: {self.problem.message}")
            self.args = (self.problem.code, self.problem.message)
        return self

    def __str__(self) -> str:
        problem = self.problem
        lines = [f"{problem.code}: {problem.message}"]
        if problem.place:
            lines += [f"  at {problem.place}", problem.place.underline()]
        if problem.expected:
            lines.append(f"  expected: {problem.expected}")
        if problem.hint:
            lines.append(f"  do: {problem.hint}")
        return "\n".join(lines)


class QueryError(SlackwaterError):
    """An error in the text of a query, or in a plan written directly (codes SW-1xx to SW-3xx)."""


class InputError(SlackwaterError):
    """An error in a given file, option or value (codes SW-4xx)."""


class RunError(SlackwaterError):
    """An error of a running pipeline (codes SW-5xx)."""


@contextmanager
def found_in(what: str) -> Iterator[None]:
    """Add the name of the plan to errors about it, because a file holds many plans.

    >>> with found_in("the pipeline 'tolls'"):
    ...     raise QueryError("SW-400", "Join cannot be run")
    Traceback (most recent call last):
    slackwater.errors.QueryError: SW-400: in the pipeline 'tolls': Join cannot be run
    """
    try:
        yield
    except QueryError as error:
        error.within(what)
        raise


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint that names the most similar known name, or lists the known names.

    >>> nearest("sped", ["speed", "segment"])
    "did you mean 'speed'?"
    >>> nearest("x", ["speed", "segment"])
    'known: segment, speed'
    """
    names = {each.lower(): each for each in known}
    if close := get_close_matches(name.lower(), names, n=1, cutoff=0.6):
        return f"did you mean '{names[close[0]]}'?"
    listed = sorted(names.values())
    more = f" and {len(listed) - 8} more" if len(listed) > 8 else ""
    return f"known: {', '.join(listed[:8])}{more}" if listed else "nothing is declared yet"
