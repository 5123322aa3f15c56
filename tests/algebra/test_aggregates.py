"""Every function of `AGGREGATES` is tried in every suite that has a table of calls: what is missing where."""

from collections.abc import Iterable

import pytest
from tests.algebra.test_expressions import EXPRESSIONS
from tests.engine.changelog.test_calls import CALLS
from tests.rewrite.draws import CALLS as DRAWN
from tests.semantics.test_aggregates import EXPECTED

from slackwater.algebra.aggregates import AGGREGATES, MERGEABLE, UNORDERED
from slackwater.algebra.expressions import aggregates, parse_expr
from slackwater.semantics.aggregates import FOLDS

TABLES: dict[str, Iterable[str]] = {
    "EXPECTED of tests/semantics/test_aggregates.py (worked out by hand)": EXPECTED,
    "CALLS of tests/engine/changelog/test_calls.py (fused, under EMIT CHANGES)": CALLS,
    "EXPRESSIONS of tests/algebra/test_expressions.py (its type, as Spark has it)": EXPRESSIONS,
}


def names(kinds: Iterable[type]) -> list[str]:
    return sorted(kind.__name__ for kind in kinds)


def called(texts: Iterable[str]) -> set[type]:
    """Return the aggregate functions that these texts call."""
    calls = [call for text in texts for call in aggregates(parse_expr(f"f({text})"))]
    return {type(call.this if type(call) not in AGGREGATES else call) for call in calls}


@pytest.mark.parametrize("table", TABLES)
def test_every_function_is_tried(table: str):
    missing = names(AGGREGATES.keys() - called(TABLES[table]))
    assert not missing, f"add {', '.join(missing)} to {table}"


def test_every_function_has_a_meaning():
    missing = names(AGGREGATES.keys() - FOLDS.keys())
    assert not missing, f"add {', '.join(missing)} to FOLDS of semantics/aggregates.py"


def test_every_function_that_a_rule_relies_on_is_drawn_for_the_rules():
    missing = names({*MERGEABLE, *UNORDERED} - called(DRAWN))
    assert not missing, (
        f"add {', '.join(missing)} to CALLS['int'] of testing/terms.py, or to CALLS of tests/rewrite/draws.py"
    )
