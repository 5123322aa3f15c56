"""Every rule, on random queries over random disordered streams: both sides through the interpreter."""

from itertools import count

import pytest
from tests.law_cases import law_cases
from tests.rewrite.proofs import answers, firing

from slackwater.app.plans.rewrites import outline
from slackwater.rewrite import RULES

CASES = law_cases(1_000)
STREAMS = law_cases(24)
MOST_PLANS = 160


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_both_sides_answer_the_same(rule, tally):
    """At least a thousand cases in which the rule fires, and enough of them with an answer to tell apart."""
    cases = telling = 0
    for seed in count():
        if cases >= CASES:
            break
        assert seed < MOST_PLANS, f"{rule.__name__} seldom fires on what tests/rewrite/templates.py draws"
        fired = firing(rule, seed)
        for where, before, after in answers(fired, STREAMS) if fired else ():
            assert before == after, f"{where}\n" + "\n".join([*outline(fired.before), *outline(fired.after.plan)])
            cases += 1
            telling += before != answers_nothing(before)
            tally(rule.__name__, len(fired.after.steps))
    assert telling >= CASES // 3, f"only {telling} of {cases} answers have rows: see templates.py"


def answers_nothing(told) -> object:
    """Return the same answer without rows and changes."""
    return ((), *told[1:-1], ())
