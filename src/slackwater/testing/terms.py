"""Random expressions over the columns of an operator: conditions, groupings, aggregates, select lists."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from slackwater.algebra.expressions import parse_expr, type_expr
from slackwater.algebra.nodes import Aggregate, Item, Plan
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import Expr, Field, Schema
from slackwater.testing.choices import Choices, some

CONDITIONS = {
    "int": ("{} > 2", "{} = 1", "{} IS NULL OR {} < 4", "COALESCE({}, 0) % 2 = 0", "{} BETWEEN 0 AND 5", "NOT {} <> 1"),
    "double": ("{} > 0", "{} / 2 < 1", "{} IS NOT NULL", "ABS({}) >= 1.25"),
    "string": ("{} LIKE 'a%'", "{} IN ('a', 'b')", "{} = 'ab' OR {} IS NULL", "LENGTH({}) = 1"),
}
SCALARS = {
    "int": ("{}", "{}", "{} + 1", "CASE WHEN {} > 2 THEN 'high' ELSE 'low' END"),
    "double": ("{}", "{}", "{} * 2", "CAST({} AS INT)"),
    "string": ("{}", "{}", "UPPER({})", "CONCAT({}, '!')"),
}
CALLS = {
    "int": (
        *("COUNT({})", "SUM({})", "AVG({})", "MIN({})", "MAX({})", "STDDEV({})", "LAST({})", "COUNT(DISTINCT {})"),
        *("MAX_BY({}, {} % 3)", "BIT_XOR({})"),
    ),
    "double": ("SUM({})", "AVG({})", "MAX({})", "FIRST({})", "MIN_BY({}, ABS({}))"),
    "string": ("COUNT(DISTINCT {})", "MIN({})", "LAST({})", "COUNT({})"),
}
ORDERED = ("FIRST({})", "LAST({})")
WIDER = {"bigint": "int"}
"""Types that use the templates of another type."""


@lru_cache(maxsize=16_384)
def expression(sql: str, schema: Schema) -> Expr:
    """Return the expression, resolved and typed as binding does."""
    return type_expr(parse_expr(sql), schema)


@dataclass(frozen=True, slots=True)
class Terms:
    """The available columns."""

    schema: Schema

    @classmethod
    def over(cls, plan: Plan) -> Terms:
        return cls(schema_of(plan))

    @property
    def usable(self) -> list[tuple[str, str]]:
        """Return the references and types of the columns for which there are templates."""
        kinds = [(self.schema.reference(field), WIDER.get(field.type, field.type)) for field in self.schema]
        return [(name, kind) for name, kind in kinds if kind in CONDITIONS]

    @property
    def key(self) -> str:
        """Return a column to join, group or partition by: the first INT column, or else the first column."""
        return next((name for name, kind in self.usable if kind == "int"), self.usable[0][0])

    def filled(self, template: str, name: str) -> Expr:
        return expression(template.replace("{}", name), self.schema)

    def condition(self, choices: Choices) -> Expr:
        name, kind = choices.one_of(self.usable)
        return self.filled(choices.one_of(CONDITIONS[kind]), name)

    def partition(self, choices: Choices) -> tuple[str, ...]:
        return choices.one_of([(), (self.key,)])

    def items(self, choices: Choices) -> tuple[Item, ...]:
        """Draw a select list: some columns, some expressions over them."""
        chosen = some(choices, self.usable, 1, 3)
        exprs = [self.filled(choices.one_of(SCALARS[kind]), name) for name, kind in chosen]
        return tuple(Item(f"c{number}", expr) for number, expr in enumerate(exprs))

    def pair(self) -> tuple[Item, ...]:
        """Return the two columns that every stream has."""
        return tuple(Item(name, expression(name, self.schema)) for name in ("id", "v"))

    def aggregate(self, choices: Choices, child: Plan, ordered: bool = True) -> Aggregate:
        """Draw a grouping with one to three aggregates; without `ordered`, none that depends on the order of rows."""
        grouped = some(choices, self.usable, 0, 2)
        group = tuple(Item(f"g{number}", self.filled("{}", name)) for number, (name, _) in enumerate(grouped))
        calls = some(choices, self.calls(ordered), 1, 3)
        made = tuple(Item(f"a{number}", self.filled(*call)) for number, call in enumerate(calls))
        return Aggregate(child, group, made)

    def calls(self, ordered: bool) -> list[tuple[str, str]]:
        """Return every aggregate call that the columns allow: a template and a column."""
        allowed = [(call, name) for name, kind in self.usable for call in CALLS[kind]]
        return [("COUNT(*)", ""), *(pair for pair in allowed if ordered or pair[0] not in ORDERED)]


def equality(left: Terms, right: Terms) -> Expr:
    """Return the condition that the keys of both sides are equal."""
    both = Schema(left.schema.fields + right.schema.fields)
    mine, other = (_qualified(terms.schema, terms.key) for terms in (left, right))
    return expression(f"{mine} = {other}", both)


def _qualified(schema: Schema, reference: str) -> str:
    field: Field = schema.find(reference)
    return f"{field.qualifier}.{field.name}"
