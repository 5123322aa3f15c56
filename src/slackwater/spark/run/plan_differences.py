"""Describe how two queries differ, in the words of the language, so that a person can undo the change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from slackwater.algebra.nodes import INPUTS
from slackwater.algebra.policies import ratio_text

LONGEST, MOST = 60, 3
"""The characters of a quoted text, and the number of differences that are told."""
STREAM, CLAUSE, NAMES = range(3)
"""Ranks of differences; only those of the lowest rank are told. A changed declaration of a stream changes the types of
all operators above it. Lists of columns and aliases come last, because the optimiser writes most of them."""
DECLARED = {
    "event_time": "TIMESTAMP BY",
    "arrival": "ARRIVAL BY",
    "source": "SOURCE BY",
    "change_type": "CHANGELOG BY",
    "key": "KEY",
}
Doc = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fact:
    """A property of a query, such as a clause, with its value. It is independent of where the optimiser puts it."""

    rank: int
    what: str
    value: str = ""


def difference(kept: Doc, mine: Doc) -> str | None:
    """Return the most important differences between two plan documents in words, or None if they are the same."""
    if kept == mine:
        return None
    if kept.get("slackwater") != mine.get("slackwater"):
        return "it was written by another version"
    plans = kept["plan"], mine["plan"]
    if plans[0]["op"] != plans[1]["op"]:
        plans = _below(plans[0]), _below(plans[1])
    told = sorted(_list_differences(*map(_distinct_facts, plans)), key=lambda each: each[0])
    first = [each for rank, each in told if rank == told[0][0]]
    return "; ".join(first[:MOST]) or "the same clauses are computed in another way"


def _list_differences(kept: list[Fact], mine: list[Fact]) -> Iterator[tuple[int, str]]:
    for fact in dict.fromkeys((each.rank, each.what) for each in (*kept, *mine)):
        old, new = ([each.value for each in facts if (each.rank, each.what) == fact] for facts in (kept, mine))
        rank, what = fact
        if old and new and old != new:
            yield rank, f"{what} was {_listed(old)} and is {_listed(new)}"
        elif not (old and new):
            value = f" ({_listed(old or new)})" if any(old or new) else ""
            yield rank, f"{what}{value} is {'new' if new else 'gone'}"


def _below(plan: Doc) -> Doc:
    """Return the part of a plan that has state: a checkpoint of Spark's own operators records no operators above it."""
    while plan["op"] in ("emit", "project", "select"):
        plan = plan["child"]
    return plan


def _distinct_facts(plan: Doc) -> list[Fact]:
    """Return the facts of a plan, each once."""
    return list(dict.fromkeys(_facts(plan)))


def _facts(plan: Doc) -> Iterator[Fact]:
    """Return the facts of all operators of a plan, from the result to the streams."""
    match plan["op"]:
        case "scan" | "view":
            yield from _declaration_facts(plan)
        case "disorder":
            for name, value in plan["policy"].items():
                yield Fact(CLAUSE, f"{_policy(name)}{_of(plan)}", ratio_text(value) if name == "dratio" else str(value))
        case "select":
            clause = "HAVING" if plan["child"]["op"] == "aggregate" else "WHERE"
            yield Fact(CLAUSE, f"{clause} {_short(plan['condition']['sql'])}{_of(plan)}")
        case "aggregate":
            for item in plan["group"]:
                yield Fact(CLAUSE, f"GROUP BY {_short(item['sql'])}{_of(plan)}")
            for item in plan["aggregates"]:
                yield Fact(CLAUSE, f"{_short(item['sql'])}{_of(plan)}")
        case "project":
            for item in plan["items"]:
                yield Fact(NAMES, f"the column '{item['name']}'{_of(plan)}", item["sql"])
        case _:
            yield from _clauses(plan)
    for name in INPUTS:
        if name in plan:
            yield from _facts(plan[name])


def _clauses(plan: Doc) -> Iterator[Fact]:
    match plan:
        case {"op": "window", "range": length}:
            yield Fact(CLAUSE, f"RANGE{_of(plan)}", length)
            yield Fact(CLAUSE, f"SLIDE or FREQUENCY{_of(plan)}", _every(plan))
        case {"op": "frequency"}:
            yield Fact(CLAUSE, f"FREQUENCY{_of(plan)}", _every(plan))
        case {"op": "join"}:
            yield Fact(CLAUSE, f"the join{_of(plan)}", (plan.get("condition") or {"sql": "without a condition"})["sql"])
        case {"op": "emit"}:
            yield Fact(CLAUSE, "EMIT", f"{plan.get('mode', 'final').upper()}{' WITH SYNC' * plan.get('sync', False)}")
        case {"op": "subquery", "alias": alias}:
            yield Fact(NAMES, f"the alias of the nested query{_of(plan)}", alias)
        case {"op": operator}:
            names = {"union": "UNION ALL", "distinct": "DISTINCT", "minus": "EXCEPT"}
            yield Fact(CLAUSE, f"{names.get(operator, operator)}{_of(plan)}")


def _declaration_facts(plan: Doc) -> Iterator[Fact]:
    name = plan["stream"] if plan["op"] == "scan" else plan["name"]
    called = f"the {'stream' if plan['op'] == 'scan' else 'view'} '{name}'"
    yield Fact(STREAM, called)
    yield Fact(NAMES, f"the alias of {called}", plan["alias"])
    for column in plan.get("fields", ()):
        yield Fact(STREAM, f"the column '{column['name']}' of {called}", column["type"].upper())
    for part, clause in DECLARED.items():
        if value := plan.get(part):
            yield Fact(STREAM, f"{clause} of {called}", value if isinstance(value, str) else ", ".join(value))


def _policy(name: str) -> str:
    return "USING" if name == "estimator" else name.upper()


def _every(plan: Doc) -> str:
    by = plan.get("by")
    return f"{plan.get('every', '1 tuple')}{' PARTITIONED BY ' + ', '.join(by) if by else ''}"


def _of(plan: Doc) -> str:
    return f" of {', '.join(dict.fromkeys(_streams(plan)))}"


def _streams(plan: Doc) -> Iterator[str]:
    if plan["op"] in ("scan", "view"):
        yield plan.get("stream") or plan["name"]
        return
    for name in INPUTS:
        if name in plan:
            yield from _streams(plan[name])


def _listed(values: list[str]) -> str:
    return _short(", ".join(values))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
