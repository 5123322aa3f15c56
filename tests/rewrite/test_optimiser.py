"""All rules together: they end, in one place, on a sound plan with the same answer, in whatever order they come."""

from random import Random

import pytest
from tests.law_cases import law_cases
from tests.rewrite.draws import Draw
from tests.rewrite.proofs import COMPUTES_FEWER_WINDOWS, SECOND, streams_of
from tests.rewrite.sameness import told
from tests.rewrite.templates import TEMPLATES

from slackwater.algebra.bind import bind
from slackwater.algebra.checks import check
from slackwater.algebra.document import from_document, to_document
from slackwater.algebra.nodes import Mode
from slackwater.algebra.properties.columns import schema_of
from slackwater.rewrite import RULES, rewrite
from slackwater.rewrite.driver import MOST_STEPS
from slackwater.semantics import interpret
from slackwater.testing.catalog import CATALOG
from slackwater.testing.plans import Shape, seeded_case


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("hundred", range(2))
def test_any_plan_answers_the_same(mode: Mode, hundred: int):
    """Plans that nobody thought of, over streams that nobody thought of."""
    for seed in range(hundred * 100, hundred * 100 + law_cases(100)):
        case = seeded_case(seed, Shape(unit=SECOND, mode=mode), max_rows=12)
        assert_same(case.plan, rewrite(case.plan), case.feeds)


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_rules_may_come_in_any_order(name: str):
    for number in range(law_cases(6)):
        rng = Random(f"{name} in any order {number}")
        case = TEMPLATES[name](Draw(rng))
        done = rewrite(case.plan, case.views, rng.sample(RULES, len(RULES)))
        for _ in range(3):
            assert_same(case.plan, done, streams_of(case.plan, str(rng.random())))


@pytest.mark.parametrize("name", TEMPLATES)
def test_they_end_on_a_sound_plan_that_they_leave_alone(name: str):
    for number in range(law_cases(12)):
        case = TEMPLATES[name](Draw(Random(f"{name} ends {number}")))
        done = rewrite(case.plan, case.views)
        assert len(done.steps) < MOST_STEPS // 10
        assert not rewrite(done.plan, case.views).steps
        assert check(done.plan) is done.plan
        assert schema_of(done.plan) == schema_of(case.plan)
        assert bind(from_document(to_document(done.plan)), CATALOG.fill) == done.plan


def assert_same(plan, done, given_feeds):
    fewer = any(step.rule in COMPUTES_FEWER_WINDOWS for step in done.steps)
    for flush in (False, True):
        before, after = (interpret(each, given_feeds, flush) for each in (plan, done.plan))
        assert told(before, plan, windows=not fewer) == told(after, plan, windows=not fewer), flush
