"""Panes: the interpreter merges whatever panes it is told of, so that they fit the extents is shown here."""

from random import Random

import pytest
from tests.rewrite.draws import Draw
from tests.rewrite.templates import TEMPLATES

from slackwater.algebra.nodes import Aggregate, Window, walk
from slackwater.rewrite import rewrite
from slackwater.semantics.windows import extents_of


@pytest.mark.parametrize("seed", range(40))
def test_every_extent_is_made_of_whole_panes_of_the_greatest_length(seed: int):
    case = TEMPLATES["share_panes"](Draw(Random(seed)))
    plan = rewrite(case.plan).plan
    for aggregate in (each for each in walk(plan) if isinstance(each, Aggregate) and each.pane):
        window = next(each for each in walk(aggregate) if isinstance(each, Window))
        length, slide = window.range.amount, window.every.amount
        assert fits(aggregate.pane, length, slide)
        assert not any(fits(aggregate.pane * more, length, slide) for more in (2, 3, 5, 7))


def fits(pane: int, length: int, slide: int) -> bool:
    """Return whether a pane's first and last tick are in the same extents, pane by pane over a whole period."""
    return all(
        extents_of(start, length, slide) == extents_of(start + pane - 1, length, slide)
        for start in range(0, slide * pane, pane)[:50]
    )
