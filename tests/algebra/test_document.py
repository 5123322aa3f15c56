"""The JSON form: what is written reads back the same, and what is wrong is refused with a code."""

import json

import pytest
from tests.algebra.plans import bound, lookup, ranged, rows, sliding

from slackwater.algebra.bind import bind
from slackwater.algebra.builder import Query
from slackwater.algebra.document import from_document, to_document
from slackwater.errors import QueryError

PLANS = [
    rows(),
    rows().control(dratio="5%", slack=20, idle="30 seconds").where("speed > 1"),
    rows().window(range="1 minute").group("vehID").count().frequency(10, by="vehID"),
    rows().window(range=10, every="1 minute", by=("segment", "vehID")).select("speed", fast="speed > 80"),
    sliding("V").join(sliding().group("segment").avg("speed").alias("S"), on="V.segment = S.segment"),
    ranged("A").union(ranged("B")).distinct().emit("changes"),
    sliding("A").minus(sliding("B")).emit(sync=True),
]


@pytest.mark.parametrize("query", PLANS)
def test_reads_back_the_same(query: Query):
    plan = bind(query.plan, lookup)
    assert from_document(json.loads(json.dumps(to_document(plan)))) == plan


@pytest.mark.parametrize("query", PLANS)
def test_an_unbound_document_binds_to_the_same_plan(query: Query):
    assert bind(from_document(to_document(query.plan)), lookup) == bind(query.plan, lookup)


def test_binding_twice_changes_nothing():
    plan = bind(PLANS[4].plan, lookup)
    assert bind(plan, lookup) == plan


SCAN = {"op": "scan", "stream": "S", "alias": "S", "fields": [], "event_time": "ts"}


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (None, "SW-126"),
        ([], "SW-126"),
        ({"plan": SCAN}, "SW-160"),
        ({"slackwater": 2, "plan": SCAN}, "SW-160"),
        ({"slackwater": 1}, "SW-126"),
        ({"slackwater": 1, "plan": {"op": "scann"}}, "SW-161"),
        ({"slackwater": 1, "plan": {"op": ["scan"]}}, "SW-161"),
        ({"slackwater": 1, "plan": SCAN | {"colour": 1}}, "SW-163"),
        ({"slackwater": 1, "plan": {"op": "select", "child": SCAN}}, "SW-164"),
        ({"slackwater": 1, "plan": {"op": "window", "child": SCAN, "range": 5}}, "SW-165"),
        ({"slackwater": 1, "plan": {"op": "window", "child": SCAN, "range": "5 minutes", "by": "Id"}}, "SW-165"),
        ({"slackwater": 1, "plan": {"op": "project", "child": SCAN, "items": [{"sql": "x"}]}}, "SW-165"),
        ({"slackwater": 1, "plan": {"op": "disorder", "child": SCAN, "policy": {"ratio": 1}}}, "SW-165"),
        ({"slackwater": 1, "plan": {"op": "emit", "child": SCAN, "mode": "sometimes"}}, "SW-165"),
    ],
)
def test_what_is_refused(document: object, code: str):
    with pytest.raises(QueryError) as caught:
        from_document(document)
    assert caught.value.code == code


def test_a_bottomless_document_is_refused():
    plan: dict[str, object] = SCAN
    for _ in range(500):
        plan = {"op": "distinct", "child": plan}
    with pytest.raises(QueryError, match="SW-162"):
        from_document({"slackwater": 1, "plan": plan})


def test_an_unknown_column_names_the_nearest():
    with pytest.raises(QueryError, match="did you mean 'speed'"):
        bound(rows().where("sped > 1"))


def test_an_ambiguous_column_is_refused():
    with pytest.raises(QueryError, match="SW-202"):
        bound(ranged("A").join(ranged("B"), on="vehID = 1"))
