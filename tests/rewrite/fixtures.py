"""The SQL fixture of a rule: queries before and after it, and queries on which it must not fire.

-- before           a query; the rule fires on its canonical plan
-- prepared         the same, where the rules that stand before this one have been applied first
-- after            the plan that it makes, one operator per line
-- not: reason      a query on which it does not fire
-- view             a CREATE VIEW that is registered for the queries after it
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from slackwater.algebra.catalog import Catalog, ViewDef
from slackwater.algebra.nodes import Plan, Policy
from slackwater.algebra.policies import in_words
from slackwater.app.plans.rewrites import outline
from slackwater.lang import bind_query, parse_script
from slackwater.rewrite import RULES, rewrite
from slackwater.rewrite.change import Rule
from slackwater.testing.catalog import CATALOG

FOLDER = Path(__file__).parent / "fixtures"
KINDS = "before|prepared|after|not|view"
PART = re.compile(rf"^-- ({KINDS})(?:: ([^\n]+))?\n(.*?)(?=^-- (?:{KINDS})\b|\Z)", re.MULTILINE | re.DOTALL)


@dataclass(slots=True)
class Fixture:
    """`changed` pairs a plan with the outline of what the rule makes of it; `left` pairs a plan with a reason."""

    rule: Rule
    changed: list[tuple[Plan, str]] = field(default_factory=list)
    left: list[tuple[Plan, str]] = field(default_factory=list)
    views: tuple[ViewDef, ...] = ()

    def bound(self, sql: str) -> Plan:
        return bind_query(sql, Catalog(CATALOG.streams, self.views))


def read(rule: Rule) -> Fixture:
    fixture = Fixture(rule)
    for kind, reason, text in PART.findall((FOLDER / f"{rule.__name__}.sql").read_text()):
        match kind:
            case "view":
                fixture.views += parse_script(text, catalog=Catalog(CATALOG.streams, fixture.views)).views
            case "before":
                before = fixture.bound(text)
            case "prepared":
                before = rewrite(fixture.bound(text), fixture.views, RULES[: RULES.index(rule)]).plan
            case "after":
                lines = [line.removeprefix("-- ") for line in text.strip().splitlines()]
                fixture.changed.append((before, "\n".join(lines)))
            case "not":
                fixture.left.append((fixture.bound(text), reason))
    return fixture


def shown(plan: Plan) -> str:
    """Return the outline of a plan, with `default policy` in place of a policy that is not stated."""
    return "\n".join(outline(plan)).replace(in_words(Policy()), "default policy")
