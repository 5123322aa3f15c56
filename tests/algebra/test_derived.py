"""Schema, key, instants, order, locality and class, against the tables of the papers and changelog.md."""

import pytest
from tests.algebra.plans import bound, ranged, rows, sliding

from slackwater.algebra.builder import Query
from slackwater.algebra.lengths import Length
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.properties.instants import Instants, instants_of
from slackwater.algebra.properties.keys import key_of
from slackwater.algebra.properties.locality import is_local
from slackwater.algebra.properties.monotonicity import Class, class_of
from slackwater.algebra.properties.order import Order, order_of

CLASSES: list[tuple[str, Query, int]] = [
    ("a stream", rows(), 1),
    ("a filter of a stream", rows().where("speed > 1"), 1),
    ("a sample of a stream", rows().frequency(10), 1),
    ("a stream with negative tuples", rows("Changes"), 4),
    ("a RANGE window", ranged(), 2),
    ("a filter of a window", ranged().where("speed > 1"), 2),
    ("a RANGE window over negative tuples", rows("Changes").window(range="30 seconds"), 4),
    ("a tuple window", rows().window(range=10), 4),
    ("a window that jumps by tuples", rows().window(range="30 seconds", every=10), 4),
    ("extents", sliding(), 2),
    ("an aggregate of extents", sliding().group("segment").count(), 2),
    ("an aggregate of a RANGE window", ranged().group("segment").count(), 4),
    ("a join of two streams", rows(alias="A").join(rows(alias="B")), 1),
    ("a join of two windows", ranged("A").join(ranged("B")), 3),
    ("a join of a window and a stream", ranged("A").join(rows(alias="B")), 3),
    ("a join with negative tuples", ranged("A").join(rows("Changes", "B")), 4),
    ("a union of equal ranges", ranged("A").union(ranged("B")), 2),
    ("a union of different ranges", ranged("A").union(ranged("B", 60)), 3),
    ("a union of streams", rows(alias="A").union(rows(alias="B")), 1),
    ("distinct over a window", ranged().distinct(), 3),
    ("distinct over negative tuples", rows("Changes").distinct(), 4),
    ("minus of windows", ranged("A").minus(ranged("B")), 4),
]


@pytest.mark.parametrize(("what", "query", "expected"), CLASSES, ids=[case[0] for case in CLASSES])
def test_monotonicity_class(what: str, query: Query, expected: int):
    assert class_of(bound(query)) is Class(expected)


KEYS: list[tuple[str, Query, tuple[str, ...] | None]] = [
    ("a stream without one", rows(), None),
    ("a declared one", rows("Changes"), ("vehID",)),
    ("of an aggregate: its groups", ranged().group("segment").count(), ("segment",)),
    ("of a global aggregate: one row", ranged().aggregate(n="COUNT(*)"), ()),
    ("renamed by a projection", rows("Changes").select(car="vehID"), ("car",)),
    ("lost in a projection", rows("Changes").select("speed"), None),
    ("of a join: both", rows("Changes", "A").join(rows("Changes", "B")), ("A.vehID", "B.vehID")),
    (
        "of a join on it: one side's",
        rows("Changes", "A").join(rows("Changes", "B"), on="A.vehID = B.vehID AND A.speed > B.speed"),
        ("A.vehID",),
    ),
    (
        "of a join on it, by a selection",
        rows("Changes", "A").join(rows("Changes", "B")).where("B.vehID = A.vehID"),
        ("A.vehID",),
    ),
    ("of a join with a stream without one", rows("Changes", "A").join(rows(alias="B")), None),
    ("of distinct: every column", rows().select("segment").distinct(), ("segment",)),
    ("of a union: none", rows("Changes", "A").union(rows("Changes", "B")), None),
    ("of answers at boundaries: until the next", sliding().group("segment").count().alias("q"), ("segment",)),
    (
        "of such answers in a window: none, as several live",
        sliding().group("segment").count().alias("q").where("count > 1").window(range="5 minutes"),
        None,
    ),
    (
        "of answers at every row, read as a stream: none",
        rows().window(range="30 seconds").group("segment").count().alias("q"),
        None,
    ),
    (
        "of answers that may change, in a window",
        rows().group("segment").count().alias("q").window(range="5 minutes"),
        ("segment",),
    ),
    ("of rows in a window over a subquery", rows("Changes").alias("q").window(range="5 minutes"), ("vehID",)),
]


@pytest.mark.parametrize(("what", "query", "expected"), KEYS, ids=[case[0] for case in KEYS])
def test_key(what: str, query: Query, expected: tuple[str, ...] | None):
    assert key_of(bound(query)) == expected


def test_columns_and_their_types():
    plan = bound(
        sliding().group("segment").aggregate(top="MAX(speed)", n="COUNT(*)").select("segment", twice="2 * top")
    )
    assert [str(field) for field in schema_of(plan)] == ["segment int", "twice double"]


def test_a_join_names_both_sides():
    plan = bound(ranged("A").join(ranged("B"), on="A.vehID = B.vehID"))
    assert [field.qualifier for field in schema_of(plan)] == ["A"] * 4 + ["B"] * 4


@pytest.mark.parametrize(
    ("query", "expected", "order"),
    [
        (rows(), Instants(), Order.SEQUENCE),
        (ranged(), Instants(window=Length.parse("30 seconds")), Order.SEQUENCE),
        (rows().window(range=5), Instants(window=Length.parse("5 tuples")), Order.SEQUENCE),
        (sliding(), Instants(Length.parse("30 seconds"), Length.parse("60 seconds")), Order.BOUNDARY),
        (
            rows().window(range="30 seconds", every=10, by="vehID"),
            Instants(Length.parse("10 tuples"), Length.parse("30 seconds"), ("vehID",)),
            Order.SEQUENCE,
        ),
        (
            rows().window(range=10, every="1 minute"),
            Instants(Length.parse("1 minute"), Length.parse("10 tuples")),
            Order.BOUNDARY,
        ),
        (
            sliding().group("segment").count().alias("S"),
            Instants(Length.parse("30 seconds"), Length.parse("60 seconds")),
            Order.BOUNDARY,
        ),
        (ranged().group("segment").count().alias("S"), Instants(), Order.SEQUENCE),
    ],
)
def test_instants_and_order(query: Query, expected: Instants, order: Order):
    plan = bound(query)
    assert (instants_of(plan), order_of(plan)) == (expected, order)


def test_a_scan_is_in_arrival_order():
    assert order_of(bound(rows()).child) is Order.ARRIVAL


@pytest.mark.parametrize(
    ("query", "local"),
    [
        (rows().where("speed > 1"), True),
        (rows().select("speed"), True),
        (ranged(), False),
        (rows().frequency(10), False),
        (rows().frequency("1 minute"), False),
        (rows().frequency("1 minute", strict=True), True),
        (sliding().group("segment").count(), True),
        (ranged().group("segment").count(), False),
    ],
)
def test_locality(query: Query, local: bool):
    """CSQL definition 1; other than its section 5 says, a time frequency is local in its strict form only."""
    assert is_local(bound(query)) is local
