"""The random plans are plans that a query could have, and leave nothing out."""

from collections import Counter

from hypothesis import given, settings

from slackwater.algebra.bind import bind
from slackwater.algebra.checks import check
from slackwater.algebra.lengths import Kind
from slackwater.algebra.nodes import NODES, Emit, Frequency, Join, Mode, Scan, Subquery, Window, walk
from slackwater.algebra.properties.instants import instants_of
from slackwater.testing.catalog import CATALOG
from slackwater.testing.plans import Shape, cases, plans, seeded_case

QUICK = settings(max_examples=40, deadline=None)


@QUICK
@given(plans())
def test_a_plan_is_bound_and_sound(plan: Emit):
    assert check(plan) is plan
    assert bind(plan, CATALOG.fill) == plan


@QUICK
@given(plans(Shape(mode=Mode.CHANGES)))
def test_a_plan_for_a_changelog_is_bound_and_sound(plan: Emit):
    assert plan.mode is Mode.CHANGES
    assert check(plan) is plan
    assert bind(plan, CATALOG.fill) == plan


@QUICK
@given(plans(Shape(instants=("boundaries",), ranges=(Kind.TIME,), joins=False, subqueries=False, partitioned=False)))
def test_a_shape_restricts_what_is_drawn(plan: Emit):
    nodes = walk(plan)
    assert instants_of(plan.child).at_boundaries
    assert not any(isinstance(node, (Join, Subquery)) or getattr(node, "by", ()) for node in nodes)
    assert all(node.range.is_time for node in nodes if isinstance(node, Window))


@QUICK
@given(cases(Shape(unit=1_000)))
def test_a_case_feeds_the_streams_that_its_plan_reads(case):
    assert set(case.feeds) == {node.stream for node in walk(case.plan) if isinstance(node, Scan)}
    lengths = [node.range for node in walk(case.plan) if isinstance(node, Window)]
    assert all(length.amount % 1_000 == 0 for length in lengths if length.is_time)


def test_every_operator_and_every_kind_of_window_is_drawn():
    nodes = [node for seed in range(600) for node in walk(seeded_case(seed).plan)]
    counted = Counter(type(node) for node in nodes)
    assert set(counted) == set(NODES)
    windows = {(node.range.kind, node.every.kind, bool(node.by)) for node in nodes if isinstance(node, Window)}
    assert len(windows) == 8
    jumps = {
        (node.child.range.kind, node.every.kind)
        for node in nodes
        if isinstance(node, Frequency) and isinstance(node.child, Window)
    }
    assert len(jumps) == 4
    samples = {
        (node.every.kind, bool(node.by), node.strict)
        for node in nodes
        if isinstance(node, Frequency) and not isinstance(node.child, Window)
    }
    assert len(samples) == 6


def test_a_seed_is_enough_to_tell_a_case():
    assert seeded_case(5) == seeded_case(5)
    assert seeded_case(5) != seeded_case(6)
