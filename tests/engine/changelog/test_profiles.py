"""The rows of a changelog as others write them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.engine.changelog.trees import S, grouped, kernel, rows, steps, window

from slackwater.engine.changelog.profiles import PROFILES
from slackwater.engine.columns.arrays import EARLIEST
from slackwater.engine.plan import AggregateStep, Call, Edge, Over
from slackwater.errors import QueryError

QUERY = grouped(window(S, 10), "sum", "x")
BATCHES = (
    ({"S": rows((1, 5, 0), (2, 7, 2), (1, 6, 4))}, EARLIEST),
    ({}, 11),
    ({"S": rows((2, 1, 11))}, 30),
)
"""Of key 1 the sums 5 [0, 10), 11 [4, 10), 6 [10, 14); of key 2 the sums 7 [2, 12), 8 [11, 12), 1 [12, 21)."""


def written(profile: str, net: bool = False) -> list[list[dict]]:
    return [step.changelog.to_pylist() for step in steps(kernel(QUERY, profile=profile, net=net), *BATCHES)]


def micros(line: dict) -> tuple:
    return tuple(None if line[name] is None else line[name].microsecond for name in ("_valid_from", "_valid_to"))


def told(profile: str, name: str, net: bool = False) -> list[list[tuple]]:
    return [[(line[name], *micros(line), line["k"], line["a"]) for line in batch] for batch in written(profile, net)]


def test_changes():
    assert told("changes", "_change_type") == [
        [],
        [
            ("insert", 0, 10, 1, 5),
            ("insert", 2, 12, 2, 7),
            ("delete", 4, 4, 1, 5),
            ("insert", 4, 10, 1, 11),
            ("insert", 10, 14, 1, 6),
        ],
        [("delete", 11, 11, 2, 7), ("insert", 11, 12, 2, 8), ("insert", 12, 21, 2, 1)],
    ]


def test_updates_name_both_halves():
    assert [line[0] for batch in told("updates", "_change_type") for line in batch] == [
        "insert",
        "insert",
        "update_preimage",
        "update_postimage",
        "insert",
        "update_preimage",
        "update_postimage",
        "insert",
    ]


def test_a_result_of_one_row_has_the_empty_key():
    call = AggregateStep((), (Call("a", "sum", (("column", "x"),)),))
    whole = Over(Edge(4, ()), window(S, 10), call)
    found = steps(kernel(whole, profile="updates"), ({"S": rows((1, 5, 0), (2, 7, 2))}, np.int64(5)))[0].changelog
    assert found.column("_change_type").to_pylist() == ["insert", "update_preimage", "update_postimage"]


def test_without_a_key_nothing_is_an_update():
    unkeyed = replace(QUERY, edge=Edge(4))
    made = [step.changelog for step in steps(kernel(unkeyed, profile="updates"), *BATCHES)]
    assert {kind for batch in made for kind in batch.column("_change_type").to_pylist()} == {"insert", "delete"}


def test_flink():
    assert [line[0] for batch in told("flink", "op") for line in batch] == [
        "+I",
        "+I",
        "-U",
        "+U",
        "+I",
        "-U",
        "+U",
        "+I",
    ]


def test_debezium_has_one_row_for_an_update():
    _, second, third = written("debezium")
    assert [(line["op"], line["before"], line["after"]) for line in second + third] == [
        ("c", None, {"k": 1, "a": 5}),
        ("c", None, {"k": 2, "a": 7}),
        ("u", {"k": 1, "a": 5}, {"k": 1, "a": 11}),
        ("c", None, {"k": 1, "a": 6}),
        ("u", {"k": 2, "a": 7}, {"k": 2, "a": 8}),
        ("c", None, {"k": 2, "a": 1}),
    ]


def test_a_net_change_is_one_update_of_a_key():
    """At 11 the sums 6 of key 1 and 7 of key 2 live. At 30 none does, and nothing has to be said of that."""
    assert told("changes", "_change_type", net=True) == [[], [("insert", 10, 14, 1, 6), ("insert", 2, 12, 2, 7)], []]
    batches = (({"S": rows((1, 5, 0))}, 1), ({"S": rows((1, 6, 4), (1, 7, 6))}, 7))
    found = steps(kernel(QUERY, profile="debezium", net=True), *batches)[1].changelog.to_pylist()
    assert [(line["op"], line["before"], line["after"]) for line in found] == [
        ("u", {"k": 1, "a": 5}, {"k": 1, "a": 18})
    ]


@pytest.mark.parametrize("profile", PROFILES)
def test_the_columns_are_known_before_anything_runs(profile: str):
    made = kernel(QUERY, profile=profile)
    assert made.schema.equals(steps(made, *BATCHES)[1].changelog.schema)


def test_a_profile_that_does_not_exist():
    with pytest.raises(QueryError, match="SW-362"):
        kernel(QUERY, profile="avro")


@pytest.mark.parametrize(
    ("profile", "name", "taken"),
    [
        ("changes", "_change_type", True),
        ("changes", "_VALID_FROM", True),
        ("updates", "_Change_Type", True),
        ("updates", "_valid_to", True),
        ("flink", "_valid_to", True),
        ("flink", "OP", True),
        ("flink", "_change_type", False),
        ("changes", "op", False),
        ("debezium", "op", False),
    ],
)
def test_no_column_of_a_query_takes_the_place_of_one_that_a_changelog_has_itself(profile: str, name: str, taken: bool):
    given = replace(QUERY, step=replace(QUERY.step, calls=(replace(QUERY.step.calls[0], name=name),)))
    if not taken:
        assert steps(kernel(given, profile=profile), *BATCHES)
        return
    with pytest.raises(QueryError, match="SW-365"):
        steps(kernel(given, profile=profile), ({}, EARLIEST))
