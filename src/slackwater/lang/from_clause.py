"""Bind FROM: streams with their windows and disorder policies, views, subqueries, and joins."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from slackwater.algebra.lengths import ONE_TUPLE, Length
from slackwater.algebra.nodes import Disorder, Frequency, Plan, Policy, Scan, Window
from slackwater.algebra.properties.columns import schema_of
from slackwater.errors import QueryError
from slackwater.lang.parsing.source_text import SourceText
from slackwater.lang.parsing.syntax import DISORDER_CLAUSES, Bracket, Clause
from slackwater.lang.scope import Scope


@dataclass(frozen=True, slots=True)
class Windowing:
    """Turns a bracket into operators above a source."""

    source: SourceText
    bracket: Bracket | None

    def clause(self, word: str) -> Clause | None:
        return self.bracket.get(word) if self.bracket else None

    def wattr(self) -> exp.Column | None:
        """Return the windowing attribute, if the bracket names one."""
        found = self.clause("WATTR")
        return found.columns[0] if found else None

    def add_policy(self, scan: Scan) -> Plan:
        """Return a stream under the disorder policy and the window of its bracket."""
        return self.add_window(Disorder(scan, self._policy()))

    def refuse_control(self, what: str) -> None:
        """Raise if a bracket states disorder control for a source whose rows are in order already."""
        for word in (*DISORDER_CLAUSES, "WATTR"):
            if found := self.clause(word):
                raise QueryError(
                    "SW-221", f"{word} cannot stand at {what}", expected="RANGE, SLIDE or FREQUENCY",
                    hint=f"write {word} at the stream that it reads: its rows leave in order",
                    place=self.source.place(found.span),
                )  # fmt: skip

    def add_window(self, child: Plan) -> Plan:
        """Return a source under its RANGE, SLIDE and FREQUENCY."""
        range_, slide, frequency = (self.clause(word) for word in ("RANGE", "SLIDE", "FREQUENCY"))
        if slide:
            self._check_slide(range_, slide, frequency)
        every = (slide or frequency).length if slide or frequency else None  # type: ignore[union-attr]
        by = self._columns(frequency, child)
        if range_ is None or range_.length is None:
            return _sampled(child, every, by)
        if slide and slide.length and slide.length.is_time:
            return Window(child, range_.length, slide.length)
        if every is None or every == ONE_TUPLE:
            return Window(child, range_.length, by=by)
        return Frequency(Window(child, range_.length), every, by)

    def _check_slide(self, range_: Clause | None, slide: Clause, frequency: Clause | None) -> None:
        with self.source.blaming(slide.span):
            if range_ is None or range_.length is None or slide.length is None:
                raise QueryError(
                    "SW-212", "SLIDE without RANGE", expected="RANGE n unit SLIDE n unit",
                    hint="say how long the window is with RANGE, or use FREQUENCY to sample rows",
                )  # fmt: skip
            if frequency:
                raise QueryError(
                    "SW-213", "SLIDE and FREQUENCY both say when to answer", expected="one of them",
                    hint="remove one of them",
                )  # fmt: skip
            if range_.length.kind is not slide.length.kind:
                raise QueryError(
                    "SW-211", f"RANGE is in {_kind(range_.length)} and SLIDE in {_kind(slide.length)}",
                    expected="both in time, or both in tuples",
                    hint=f"write FREQUENCY {slide.length} instead of SLIDE: frequencies may be mixed with ranges",
                )  # fmt: skip

    def _columns(self, frequency: Clause | None, child: Plan) -> tuple[str, ...]:
        scope = Scope(self.source, schema_of(child), {})
        return tuple(scope.reference(column) for column in frequency.columns) if frequency else ()

    def _policy(self) -> Policy:
        dratio, slack, bsize = (self.clause(word) for word in ("DRATIO", "SLACK", "BSIZE"))
        return Policy(
            dratio=dratio.ratio if dratio else None,
            slack=slack.number if slack else None,
            bsize=bsize.number if bsize else None,
            estimator=dratio.estimator if dratio else None,
            idle=self._ticks("IDLE"),
            skew=self._ticks("SKEW"),
            within=self._ticks("DRATIO", "WITHIN"),
        )

    def _ticks(self, clause: str, word: str | None = None) -> int | None:
        """Return the ticks that a clause states after a word (its own word by default)."""
        found, word = self.clause(clause), word or clause
        if found is None or found.length is None:
            return None
        if not found.length.is_time:
            raise QueryError(
                "SW-223", f"{word} {found.length} is not a time", expected=f"{word} 30 seconds",
                hint="use a unit of time", place=self.source.place(found.span),
            )  # fmt: skip
        return found.length.amount


def _sampled(child: Plan, every: Length | None, by: tuple[str, ...]) -> Plan:
    """Return a sample of the rows, or the rows themselves if every row is asked for."""
    return child if every is None or every == ONE_TUPLE else Frequency(child, every, by)


def _kind(length: Length) -> str:
    return "time" if length.is_time else "tuples"
