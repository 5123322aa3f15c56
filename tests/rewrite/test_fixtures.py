"""One SQL file per rule: what it makes of a query, and what it leaves alone."""

import pytest
from tests.rewrite.fixtures import FOLDER, Fixture, read, shown
from tests.rewrite.proofs import Fired, answers

from slackwater.rewrite import RULES, rewrite

FIXTURES = [read(rule) for rule in RULES]


def named(fixture: Fixture) -> str:
    return fixture.rule.__name__


def commented(text: str) -> str:
    return "\n".join(f"-- {line}" for line in text.splitlines())


@pytest.mark.parametrize("fixture", FIXTURES, ids=named)
def test_before_becomes_after_and_answers_the_same(fixture: Fixture, tally):
    assert fixture.changed
    for before, after in fixture.changed:
        done = rewrite(before, fixture.views, [fixture.rule])
        assert shown(done.plan) == after, f"if it is right, paste it:\n-- after\n{commented(shown(done.plan))}\n"
        assert {step.rule for step in done.steps} == {named(fixture)}
        for where, one, two in answers(Fired(named(fixture), before, done), 5):
            assert one == two, where
            tally(named(fixture), len(done.steps))


@pytest.mark.parametrize("fixture", FIXTURES, ids=named)
def test_it_does_not_fire_where_it_must_not(fixture: Fixture):
    assert fixture.left
    for plan, reason in fixture.left:
        fired = f"{named(fixture)} fires on the query after '-- not: {reason}'"
        assert not rewrite(plan, fixture.views, [fixture.rule]).steps, fired
        assert named(fixture) not in {step.rule for step in rewrite(plan, fixture.views).steps}, (
            f"{fired}, after others"
        )


def test_every_rule_has_a_fixture_and_every_fixture_a_rule():
    assert {path.stem for path in FOLDER.glob("*.sql")} == {rule.__name__ for rule in RULES}
