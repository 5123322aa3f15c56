"""A rule is proved by running what it changed, before and after, through the reference interpreter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from tests.rewrite.sameness import told
from tests.rewrite.templates import TEMPLATES, Case, Draw

from slackwater.algebra.nodes import Plan, Scan, walk
from slackwater.rewrite import RULES, Rewritten, rewrite
from slackwater.rewrite.change import Rule
from slackwater.semantics import Feed, interpret
from slackwater.testing.choices import Seeded, one_in
from slackwater.testing.streams import PUNCTUATIONS, make_feeds

SECOND = 1_000_000
COMPUTES_FEWER_WINDOWS = ("distribute_frequencies", "reuse_views")


@dataclass(frozen=True, slots=True)
class Fired:
    """A plan on which a rule fires, and what it makes of it."""

    seed: str
    before: Plan
    after: Rewritten


def firing(rule: Rule, seed: int) -> Fired | None:
    """Return a plan on which the rule fires, drawn from a seed, perhaps after other rules; None if it never fires."""
    rng = Random(f"{rule.__name__} {seed}")
    case: Case = TEMPLATES[rule.__name__](Draw(rng))
    others = [each for each in RULES if each is not rule]
    for prepared in ([each for each in others if rng.random() < 0.4], others, []):
        before = rewrite(case.plan, case.views, prepared).plan
        after = rewrite(before, case.views, [rule])
        if after.steps:
            return Fired(f"{rule.__name__} {seed}", before, after)
    return None


def answers(fired: Fired, streams: int) -> Iterator[tuple[str, object, object]]:
    """Yield the answers of both plans over so many random streams, each with the seed of its streams."""
    windows = fired.after.steps[0].rule not in COMPUTES_FEWER_WINDOWS
    for number in range(streams):
        seed = f"{fired.seed} {number}"
        given, flush = streams_of(fired.before, seed), Random(seed).random() < 0.7
        before, after = (interpret(plan, given, flush) for plan in (fired.before, fired.after.plan))
        yield seed, told(before, fired.before, windows=windows), told(after, fired.before, windows=windows)


def streams_of(plan: Plan, seed: str) -> dict[str, Feed]:
    """Return feeds for the streams that a plan reads: shorter ones for a join, which makes all pairs.

    Rows come about one a second, so that windows of a few seconds hold a few rows.
    """
    choices = Seeded(Random(seed).getrandbits(64))
    scans = [each.stream for each in walk(plan) if isinstance(each, Scan)]
    return make_feeds(
        choices,
        sorted(set(scans)),
        unit=SECOND * 2 // 5,
        max_rows=11 if len(scans) == 1 else 8,
        punctuation=choices.one_of(PUNCTUATIONS),
        far_future=one_in(choices, 8),
    )
