"""No expression is a reason to refuse a query: random queries with functions against the same over plain columns."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import pytest
from tests.law_cases import law_cases

from slackwater.errors import QueryError
from slackwater.lang import bind_query
from slackwater.rewrite import rewrite
from slackwater.spark.planner.ways import way_of
from slackwater.testing.catalog import CATALOG

pytestmark = pytest.mark.long

PLAIN = {"number": "v", "text": "kind", "condition": "v > 1"}
RICH = {
    "number": (
        *("v", "v + 1", "abs(v)", "round(x, 1)", "length(kind)", "year(ts)", "CAST(kind AS INT)", "v % 3", "10 / v"),
        *("my_udf(v)", "coalesce(v, 0)", "CASE WHEN v > 1 THEN 2 ELSE x END"),
    ),
    "text": ("kind", "upper(kind)", "soundex(kind)", "date_format(ts, 'yyyy')", "concat(kind, '!')"),
    "condition": ("v > 1", "abs(v) > 1", "kind LIKE 'a%'", "10 / v > 1", "soundex(kind) = 'A'", "my_udf(v) > 1"),
}
WINDOWS = (
    *("", "[RANGE 10 seconds]", "[RANGE 5 TUPLES]", "[RANGE 10 seconds SLIDE 5 seconds]", "[FREQUENCY 2 TUPLES]"),
    *("[RANGE 5 TUPLES, FREQUENCY 2 TUPLES]", "[RANGE 9 seconds, FREQUENCY 3 TUPLES]"),
    *("[RANGE 5 TUPLES, FREQUENCY 2 seconds]", "[FREQUENCY 3 seconds PARTITIONED BY id]"),
)
CALLS = (
    *("COUNT(*)", "SUM({number})", "AVG({number})", "MAX({number})", "COUNT(DISTINCT {number})", "FIRST({number})"),
    *("MAX_BY({number}, x)", "BIT_OR(length({text}))"),
)
MIDDLE = (
    "SELECT id, {call} AS v, MAX(x) AS x, MAX(kind) AS kind, MAX(ts) AS ts FROM {source} {where} GROUP BY id {having}",
    "SELECT id, {number} AS v, x, {text} AS kind, ts FROM {source} {where}",
    "SELECT DISTINCT id, {number} AS v, x, {text} AS kind, ts FROM {source}",
    "SELECT a.id, a.x, b.v, b.kind, a.ts FROM Readings AS a {window}, Events AS b {window} WHERE a.id = b.id {joined}",
)
ABOVE = (
    "SELECT {group} AS g, {call} AS a, MAX(x) AS b FROM {source} {where} GROUP BY {group} {having}",
    "SELECT id, {number} AS a, {text} AS b FROM {source} {where}",
    "SELECT DISTINCT id, {number} AS a FROM {source} {where}",
)


@dataclass(frozen=True, slots=True)
class Twins:
    """A query with functions, and the same with plain columns in their places."""

    rich: str
    plain: str

    def within(self, before: str, after: str) -> Twins:
        return Twins(before + self.rich + after, before + self.plain + after)


def drawn(rng: Random, template: str, depth: int) -> Twins:
    """Return a query in which every part is drawn; each name stands for one part."""
    parts = {name: Twins(rng.choice(RICH[name]), plain) for name, plain in PLAIN.items()}
    parts["call"] = filled(rng.choice(CALLS), parts)
    parts["group"] = rng.choice([Twins("id", "id"), parts["text"], parts["number"]])
    parts["where"] = rng.choice([Twins("", ""), parts["condition"].within("WHERE ", "")])
    parts["having"] = rng.choice([Twins("", ""), Twins("HAVING round(MAX(x), 1) > 1", "HAVING MAX(x) > 1")])
    parts["joined"] = rng.choice([Twins("", ""), Twins("AND soundex(a.kind) = b.kind", "AND a.kind = b.kind")])
    window = rng.choice(WINDOWS)
    parts["window"] = Twins(window, window)
    if depth and rng.random() < 0.7:
        parts["source"] = drawn(rng, rng.choice(MIDDLE), depth - 1).within("(", f") AS S {window}")
    else:
        parts["source"] = Twins(f"Readings {window}", f"Readings {window}")
    return filled(template, parts)


def filled(template: str, parts: dict[str, Twins]) -> Twins:
    rich, plain = ({name: getattr(part, kind) for name, part in parts.items()} for kind in ("rich", "plain"))
    return Twins(template.format(**rich), template.format(**plain))


def is_refused(text: str) -> bool:
    try:
        way_of(rewrite(bind_query(text, CATALOG)).plan)
    except QueryError:
        return True
    return False


@pytest.mark.parametrize("mode", ["", " EMIT CHANGES"])
@pytest.mark.parametrize("template", ABOVE)
def test_a_query_with_functions_runs_where_the_same_over_columns_does(template: str, mode: str):
    rng, runs = Random(template), 0
    for _ in range(law_cases(80)):
        query = drawn(rng, template, 2).within("", mode)
        if not is_refused(query.plain):
            assert not is_refused(query.rich), query.rich
            runs += 1
    assert runs
