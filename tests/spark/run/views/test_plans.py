"""A query over the log of a view means what it means over the view: both are interpreted, over random streams."""

from collections import Counter
from collections.abc import Mapping
from functools import reduce

import pytest

from slackwater.algebra.catalog import ViewDef
from slackwater.algebra.lengths import Kind, Length
from slackwater.algebra.nodes import (
    Aggregate,
    Emit,
    Frequency,
    Item,
    Plan,
    Project,
    Scan,
    Select,
    Union,
    View,
    Window,
    walk,
)
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import Expr
from slackwater.semantics import Feed, FeedBatch, interpret
from slackwater.semantics.feeds import BEGINNING, Clock
from slackwater.spark.run.views.plans import log_name, over_named_logs
from slackwater.spark.run.views.sharing import optimise_view, why_not_kept, why_not_read
from slackwater.spark.run.views.view_log import punctuation_of
from slackwater.testing.plans import Shape, seeded_case

pytestmark = pytest.mark.long

SECOND = 1_000_000
SHAPE = Shape(unit=SECOND)
COUNT = Item("n", Expr("COUNT(*)", "bigint"))


def seconds(number: int) -> Length:
    return Length(number * SECOND, Kind.TIME)


def readers(view: View) -> dict[str, Plan]:
    """Return queries of every kind over a view, whatever its columns are."""
    first = schema_of(view).reference(schema_of(view).fields[0])
    known = Select(view, Expr(f"{first} IS NOT NULL", "boolean"))
    items = tuple(Item(each.name, Expr(schema_of(view).reference(each), each.type)) for each in schema_of(view))
    return {
        "all": Emit(view),
        "windows": Emit(Aggregate(Window(known, seconds(7), seconds(3)), (), (COUNT,))),
        "rows": Emit(Aggregate(Window(view, Length(3, Kind.TUPLES)), (), (COUNT,))),
        "every second row": Emit(Project(Frequency(view, Length(2, Kind.TUPLES)), items)),
        "times": Emit(Project(known, (*items, Item("at", Expr("row_time", "timestamp"))))),
    }


def logged(view: ViewDef, feeds: Mapping[str, Feed]) -> Feed:
    """Return the log of a kept view as a feed, computed by the interpreter."""
    plan = optimise_view(view)
    batches = max(len(feed.batches) for feed in feeds.values()) + 1
    ended = {name: Feed(feed.batches + (FeedBatch(),) * (batches - len(feed.batches))) for name, feed in feeds.items()}
    answer = interpret(plan, ended)
    used = [ended[name] for name in {node.stream for node in walk(plan) if isinstance(node, Scan)}]
    clock = reduce(Clock.slower, (Clock.of([each.punctuation for each in feed.batches], batches) for feed in used))
    return Feed(
        tuple(
            FeedBatch(
                tuple(each.row for each in answer.rows if each.batch == number),
                None if mark == BEGINNING else punctuation_of(plan, mark),
            )
            for number, mark in enumerate(clock.in_force)
        )
    )


def answers(plan: Plan, feeds: Mapping[str, Feed]) -> Counter[tuple[object, ...]]:
    longest = max(len(feed.batches) for feed in feeds.values())
    ended = {
        name: Feed((*feed.batches, *[FeedBatch()] * (longest + 1 - len(feed.batches)))) for name, feed in feeds.items()
    }
    return Counter((*each.row.values(), each.time) for each in interpret(plan, ended).rows)


@pytest.mark.parametrize("first", range(0, 120, 30))
def test_every_reader_of_a_random_view_has_the_same_rows(first: int):
    compared = 0
    for seed in range(first, first + 30):
        case = seeded_case(seed, SHAPE, punctuation="trailing", max_rows=25, max_batches=4)
        query = case.plan.child if isinstance(case.plan, Emit) else case.plan
        view = ViewDef("V", (), Emit(query))
        if why_not_kept(view):
            continue
        log = logged(view, case.feeds)
        for name, plan in readers(View("V", "V", query)).items():
            if why_not_read(plan, view, {"v"}) and any(isinstance(node, Union) for node in walk(query)):
                continue  # rows of both sides may share a place, which a log does not tell
            inline = answers(plan, case.feeds)
            assert answers(over_named_logs(plan, {"v"}), {log_name("V"): log}) == inline, (seed, name)
            compared += inline.total()
    assert compared > 100
