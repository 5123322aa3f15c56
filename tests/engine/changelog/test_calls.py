"""Every aggregate function over lifetimes, on every type that it takes, against the interpreter; bounds by hand."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from tests.engine.changelog.running import moments, ran, table_at
from tests.engine.changelog.trees import S, grouped, kernel, rows, steps, window
from tests.semantics.endings import ended

from slackwater.engine.columns.arrays import EARLIEST
from slackwater.lang import bind_query, parse_script
from slackwater.semantics import Feed, interpret

CATALOG = parse_script(
    """
    CREATE STREAM T (k INT, v INT, x DOUBLE, d DECIMAL(10,2), name STRING, day DATE, ts TIMESTAMP)
        USING rate OPTIONS (a '1') TIMESTAMP BY ts;
    CREATE STREAM Edits (op STRING, id INT, k INT, v INT, x DOUBLE, d DECIMAL(10,2), name STRING, day DATE,
        ts TIMESTAMP, PRIMARY KEY (id)) USING rate OPTIONS (a '1') TIMESTAMP BY ts CHANGELOG BY op;
    """
).catalog
CALLS = (
    "COUNT(*), COUNT(v), COUNT(name)",
    "SUM(v), SUM(x), AVG(v), AVG(x)",
    "SUM(d), MIN(d), MAX(d)",
    "MIN(v), MAX(x), MIN(name), MAX(name)",
    "MAX(ts), MIN(day), MAX(day)",
    "STDDEV(x), STDDEV_SAMP(v), STDDEV_POP(v), VARIANCE(x), VAR_POP(v)",
    "COUNT(DISTINCT v), COUNT(DISTINCT name, v)",
    "BOOL_AND(v > 1), BOOL_OR(v > 1)",
    "FIRST(v), LAST(name), ANY_VALUE(v), FIRST(x) IGNORE NULLS, LAST(v) IGNORE NULLS",
    "MAX_BY(v, x), MIN_BY(name, v), MAX_BY(x, name), MIN_BY(d, v), MAX_BY(day, x)",
    "BIT_AND(v), BIT_OR(v), BIT_XOR(v - 3)",
    "MAX(v + k), SUM(CASE WHEN v > 1 THEN x ELSE 0 END)",
)


def data() -> list[dict[str, Any]]:
    """60 rows of three groups, a NULL now and then, NaN and infinity among the doubles."""
    made = []
    for n in range(60):
        x = float("nan") if n == 17 else float("inf") if n == 33 else (n * 7 % 11) / 4
        row = {"k": n % 3, "v": n * 5 % 7, "x": x, "d": Decimal(n * 13 % 17) / 4, "name": ("ab", "cd", "ef")[n % 3]}
        row |= {"day": date(2024, 1, 1 + n % 28), "ts": n // 2 * 3, "id": n * 3 % 10}
        row |= {"op": ("insert", "update_postimage", "insert", "delete")[n * 7 % 4]}
        hole = ("v", "x", "d", "name", "day")[n % 5]
        made.append(row | ({hole: None} if n % 4 == 0 else {}))
    return made


@pytest.mark.parametrize("source", ["T", "T [RANGE 20 seconds]", "Edits [RANGE 20 seconds]", "Edits"])
@pytest.mark.parametrize("calls", CALLS)
def test_every_call_is_what_the_interpreter_says(calls: str, source: str):
    named = ", ".join(f"{call} AS c{n}" for n, call in enumerate(split(calls)))
    plan = bind_query(" ".join(("SELECT k,", named, "FROM", source, "GROUP BY k EMIT CHANGES")), CATALOG)
    stream = source.partition(" ")[0]
    rows_ = [row | {"ts": row["ts"] * 1_000_000} for row in data()]
    feed = ended(plan, {stream: Feed.of(rows_, [20_000_000, 50_000_000], cuts=[20, 40])})
    found, wanted = ran(plan, feed).changes, interpret(plan, feed, flush=True).changes
    assert found
    for time in moments(found, wanted):
        assert table_at(found, time) == table_at(wanted, time)


def split(calls: str) -> list[str]:
    """Split a text at the commas outside of brackets."""
    made, depth = [""], 0
    for letter in calls:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            made.append("")
        else:
            made[-1] += letter
    return made


def bounds(function: str, *given: tuple[int, int, int], **options: bool) -> list[tuple[int, int]]:
    """Return start and end of each result over a window of 10 ticks."""
    made = kernel(grouped(window(S, 10), function, "x", **options))
    log = steps(made, ({"S": rows(*given)}, EARLIEST), ({}, 1_000))[1].log
    return list(zip(log.born.start.tolist(), log.born.end.tolist(), strict=True))


def test_a_sum_is_bounded_by_the_first_to_leave():
    assert bounds("sum", (0, 1, 0), (0, 2, 3)) == [(0, 10), (3, 10), (10, 13)]


def test_a_maximum_is_bounded_by_the_last_that_has_it():
    assert bounds("max", (0, 9, 0), (0, 9, 3), (0, 1, 4)) == [(0, 10), (3, 13), (4, 13), (13, 14)]


def test_a_minimum_that_is_hidden_sends_nothing_when_it_leaves():
    assert bounds("min", (0, 5, 0), (0, 1, 3)) == [(0, 10), (3, 13)]


def test_a_count_of_values_is_bounded_by_the_first_value_to_lose_its_last_row():
    assert bounds("count", (0, 7, 0), (0, 8, 1), (0, 7, 5), distinct=True) == [(0, 10), (1, 10), (5, 11), (11, 15)]


def test_the_first_hands_over_when_it_leaves():
    assert bounds("first", (0, 7, 0), (0, 8, 1)) == [(0, 10), (1, 10), (10, 11)]
    assert bounds("last", (0, 7, 0), (0, 8, 1)) == [(0, 10), (1, 11)]
