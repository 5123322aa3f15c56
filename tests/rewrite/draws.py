"""The parts of random queries, drawn from a seed, and what SQL has no words for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from slackwater.algebra.aggregates import MERGEABLE
from slackwater.algebra.catalog import Catalog, ViewDef
from slackwater.algebra.expressions import conjuncts, parse_expr
from slackwater.algebra.nodes import Frequency, Plan, Select, inputs, with_inputs
from slackwater.lang import bind_query
from slackwater.testing.catalog import CATALOG
from slackwater.testing.terms import CALLS as CALLS_BY_TYPE

ROW_CONDITIONS = (
    "{}v > 0",
    "{}id < 2",
    "{}kind <> 'b'",
    "{}v IS NULL OR {}v < 6",
    "{}kind LIKE 'a%'",
    "{}id IN (0, 2)",
    "NOT {}v < 1",
    "{}v + {}id > 1",
    "COALESCE({}v, 0) BETWEEN 0 AND 5",
)
ID_CONDITIONS = ("{}id > 0", "{}id <> 1", "{}id IS NOT NULL", "{}id % 2 = 0", "{}id IN (0, 2)")
CALLS = ("COUNT(*)", *(call.replace("{}", "v") for call in CALLS_BY_TYPE["int"]), "SUM(x)", "FIRST(v)")
MERGED_CALLS = tuple(call for call in CALLS if isinstance(parse_expr(call), MERGEABLE) and "DISTINCT" not in call)


@dataclass(frozen=True, slots=True)
class Case:
    """A query, and the views that are registered when it is asked."""

    plan: Plan
    views: tuple[ViewDef, ...] = ()


@dataclass(frozen=True, slots=True)
class Draw:
    """Draws the parts of a query."""

    rng: Random

    def one(self, *choices: str) -> str:
        return self.rng.choice(choices)

    def number(self, least: int, most: int) -> int:
        return self.rng.randint(least, most)

    def condition(self, alias: str = "") -> str:
        return "(" + self.rng.choice(ROW_CONDITIONS).replace("{}", alias) + ")"

    def on_id(self, alias: str = "") -> str:
        return self.rng.choice(ID_CONDITIONS).replace("{}", alias)

    def where(self, alias: str = "") -> str:
        return " AND ".join(self.condition(alias) for _ in range(self.rng.choice((1, 1, 2))))

    def maybe(self, text: str) -> str:
        return text if self.rng.random() < 0.5 else ""

    def seconds(self, least: int = 1, most: int = 9) -> str:
        return f"{self.number(least, most)} SECONDS"

    def rows_window(self) -> str:
        return f"[RANGE {self.seconds(2)}]"

    def slide(self) -> str:
        return f"[RANGE {self.seconds(2)} SLIDE {self.seconds(1, 5)}]"

    def time_window(self) -> str:
        return self.one(self.rows_window(), self.slide(), f"[RANGE {self.seconds(2)}, FREQUENCY {self.seconds(1, 5)}]")

    def calls(self, known: tuple[str, ...] = CALLS, count: int = 2) -> str:
        chosen = self.rng.sample(known, self.number(1, count))
        return ", ".join(f"{call} AS a{place}" for place, call in enumerate(chosen))

    def group(self) -> str:
        return self.one("id", "kind", "id, kind", "kind, id")


def bound(sql: str, *views: ViewDef) -> Case:
    return Case(bind_query(sql, Catalog(CATALOG.streams, views)), views)


def stacked(plan: Plan) -> Plan:
    """Return the plan with every selection taken apart into its conjuncts, one over the other."""
    plan = with_inputs(plan, tuple(stacked(each) for each in inputs(plan)))
    if isinstance(plan, Select):
        below = plan.child
        for part in conjuncts(plan.condition):
            below = Select(below, part)
        return below
    return plan


def strictly(plan: Plan) -> Plan:
    """Return the plan with every time frequency in its strict form, which SQL has no words for."""
    plan = with_inputs(plan, tuple(strictly(each) for each in inputs(plan)))
    return replace(plan, strict=True) if isinstance(plan, Frequency) and plan.every.is_time else plan
