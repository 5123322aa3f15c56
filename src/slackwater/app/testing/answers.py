"""Answer a case with the reference interpreter (in milliseconds) or with Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from slackwater.app.testing.case import Line, QueryCase
from slackwater.app.testing.engine import Engine
from slackwater.semantics import Answer, interpret


@dataclass(frozen=True, slots=True)
class EngineAnswers:
    """The answer of an engine: the rows of each output table.

    Spark returns the rows of a batch in any order, and does not report every table or column: `unknown` are the tables
    that it does not report, `hidden` the tables and columns.
    """

    tables: Mapping[str, tuple[Line, ...]]
    ordered: bool = True
    unknown: frozenset[str] = frozenset()
    hidden: frozenset[tuple[str, str]] = frozenset()


Answers = Callable[[QueryCase], EngineAnswers]


def answer_by_interpreter(case: QueryCase) -> EngineAnswers:
    """Return the answer of the reference interpreter."""
    return EngineAnswers(tables_of(case, interpret(case.plan, case.feeds, case.flush)))


def tables_of(case: QueryCase, answer: Answer) -> dict[str, tuple[Line, ...]]:
    """Return the interpreter's answer as the tables of a case."""
    found: dict[str, list[Line]] = {}

    def add(kind: str, alias: str, batch: int, row: Mapping[str, object]) -> None:
        name = f"{kind} {alias}" if f"{kind} {alias}" in case.outputs else kind
        found.setdefault(name, []).append((batch, row))

    for each in answer.rows:
        add("result", "", each.batch, {"time": each.time, **each.row})
    for change in answer.changes:
        span = {"type": change.type, "from": change.valid_from, "to": change.valid_to}
        add("changes", "", change.batch, {**span, **change.row})
    for late in answer.late:
        add("late", late.alias, late.batch, {"late_by": late.late_by, "missed": late.missed, **late.row})
    for rejected in answer.rejected:
        add("rejected", rejected.alias, rejected.batch, rejected.row)
    for refused in answer.refused:
        add("refused", refused.alias, refused.batch, refused.row)
    for sync in answer.syncs:
        add("sync", "", sync.batch, {"window_end": sync.window_end})
    return {name: tuple(lines) for name, lines in found.items()}


def answers_of(engine: Engine) -> Answers:
    """Return the function that answers cases. Spark is imported and started only if it is asked for."""
    if engine is Engine.INTERPRETER:
        return answer_by_interpreter
    from slackwater.app.testing.on_spark import OnSpark  # noqa: PLC0415 (it imports Spark)

    return OnSpark()
