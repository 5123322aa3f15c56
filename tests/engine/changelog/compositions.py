"""Random compositions of up to four operators over windows, with a changelog among the inputs: deeper than queries are,
as a planner would put views together."""

from __future__ import annotations

from hypothesis import strategies as st

from slackwater.algebra.lengths import Kind, Length
from slackwater.algebra.nodes import (
    Aggregate,
    Disorder,
    Distinct,
    Emit,
    Item,
    Join,
    Minus,
    Mode,
    Plan,
    Policy,
    Project,
    Scan,
    Select,
    Union,
    Window,
    walk,
)
from slackwater.algebra.properties.columns import schema_of
from slackwater.testing.catalog import CATALOG
from slackwater.testing.choices import Choices, Seeded
from slackwater.testing.plans import Case
from slackwater.testing.streams import make_feeds
from slackwater.testing.terms import Terms, expression

UNARY = ("filter", "project", "aggregate", "distinct")
BINARY = ("union", "minus", "join")
CALLS = (
    "SUM(v)",
    "COUNT(*)",
    "MAX(v)",
    "MIN(v)",
    "COUNT(DISTINCT v)",
    "COUNT(v)",
    "FIRST(v)",
    "LAST(v)",
    "MAX_BY(v, id)",
    "BIT_XOR(v)",
)


def compositions(most: int = 4, max_rows: int = 10) -> st.SearchStrategy[Case]:
    """Draw a composition and feeds for its streams."""
    return st.integers(0, 2**40).map(lambda seed: composition(seed, most, max_rows))


def single(kind: str, seed: int, max_rows: int = 12) -> Case:
    """Draw one operator over windows, streams or a changelog."""
    choices = Seeded(seed)
    composer = Composer(choices)
    sources = [composer.source() for _ in range(2 if kind in BINARY else 1)]
    made = composer.unary(kind, *sources) if kind in UNARY else composer.binary(kind, *sources)
    return case_of(choices, Emit(made, Mode.CHANGES), max_rows)


def composition(seed: int, most: int = 4, max_rows: int = 10) -> Case:
    choices = Seeded(seed)
    plan = Emit(Composer(choices).composed(choices.between(1, most)), Mode.CHANGES)
    return case_of(choices, plan, max_rows)


def case_of(choices: Choices, plan: Emit, max_rows: int) -> Case:
    names = sorted({node.stream for node in walk(plan) if isinstance(node, Scan)})
    return Case(plan, make_feeds(choices, names, max_rows=max_rows))


class Composer:
    """Draws operators; every one yields the columns `id` and `v`, so that each fits above each."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.aliases = 0

    def composed(self, count: int) -> Plan:
        if not count:
            return self.source()
        kind = self.choices.one_of(UNARY + BINARY)
        if kind in UNARY:
            return self.unary(kind, self.composed(count - 1))
        left = self.choices.between(0, count - 1)
        return self.binary(kind, self.composed(left), self.composed(count - 1 - left))

    def source(self) -> Plan:
        scan = CATALOG.fill(Scan(self.choices.one_of(["Edits", "Pulses", "Events"]), self.alias("s"), (), ""))
        stream: Plan = Disorder(scan, Policy())
        if self.choices.between(0, 2):
            stream = Window(stream, Length(self.choices.between(1, 12), Kind.TIME))
        return Project(stream, Terms.over(stream).pair())

    def unary(self, kind: str, child: Plan) -> Plan:
        terms = Terms.over(child)
        match kind:
            case "filter":
                return Select(child, terms.condition(self.choices))
            case "project":
                return Project(child, self.items(child, ("id", self.choices.one_of(["v", "v + 1", "id"]))))
            case "aggregate":
                call = self.choices.one_of(CALLS)
                made = Aggregate(child, self.items(child, ("id",)), self.items(child, (call,), "v"))
                return Project(made, self.items(made, ("id", "CAST(v AS INT)")))
            case _:
                return Distinct(child)

    def binary(self, kind: str, left: Plan, right: Plan) -> Plan:
        match kind:
            case "union":
                return Union(left, right)
            case "minus":
                return Minus(left, right)
            case _:
                one = Project(left, self.items(left, ("id", "v"), "a", "x"))
                two = Project(right, self.items(right, ("id", "v"), "b", "y"))
                made = Join(one, two, expression("a = b", schema_of(Join(one, two))))
                return Project(made, self.items(made, ("a", self.choices.one_of(["x", "y"]))))

    def items(self, plan: Plan, terms: tuple[str, ...], *names: str) -> tuple[Item, ...]:
        named = names or ("id", "v")
        return tuple(Item(name, expression(sql, schema_of(plan))) for name, sql in zip(named, terms, strict=False))

    def alias(self, prefix: str) -> str:
        self.aliases += 1
        return f"{prefix}{self.aliases}"
