"""${NAME}: values become part of a literal or exactly one token, whatever they hold."""
# ruff: noqa: S608 (none of these reaches a database)

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.lang.streams import underlined

from slackwater.algebra.nodes import Select, Window, walk
from slackwater.errors import QueryError
from slackwater.lang import parse_script

STREAM = "CREATE STREAM s (id INT, name STRING, t TIMESTAMP) USING json OPTIONS (path '${DIR}/in') TIMESTAMP BY t;"
HOSTILE = ["'", "'; DROP", "x' OR '1'='1", '"', "\\", "\\'", "`", "--", "/*", "a\nb", "${DIR}", "", "]", "\0", "日本"]


def script(query: str, **variables: str):
    return parse_script(f"{STREAM} {query}", variables={"DIR": "/data", **variables})


def test_in_a_string():
    assert script("SET spark.a = 'x'").streams[0].options == {"path": "/data/in"}


def test_several_in_one_string():
    assert script("SET spark.a = '${A}-${B}-${A}'", A="1", B="2").settings == {"spark.a": "1-2-1"}


@pytest.mark.parametrize(("value", "seconds"), [("5", 300), ("10", 600)])
def test_a_number(value: str, seconds: int):
    plan = script("SELECT id FROM s [RANGE ${N} minutes]", N=value).pipelines[0].plan
    assert next(node for node in walk(plan) if isinstance(node, Window)).range.amount == seconds * 10**6


def test_names_of_streams_columns_units_and_estimators():
    text = "SELECT ${C} AS ${A} FROM ${S} [RANGE 5 ${U}, DRATIO ${R}% USING ${E}]"
    plan = script(text, C="id", A="x", S="s", U="minutes", R="0.5", E="budget").pipelines[0].plan
    assert plan == script("SELECT id AS x FROM s [RANGE 5 minutes, DRATIO 0.5% USING budget]").pipelines[0].plan


def test_a_quoted_name():
    assert script("SELECT id AS `my ${A}` FROM s", A="x").pipelines[0].plan.child.items[0].name == "my x"


def test_comments_are_left_alone():
    assert script("-- ${NOWHERE}\nSET spark.a = 1 /* ${NOR_HERE} */").settings == {"spark.a": "1"}


def test_a_missing_variable_is_named_with_its_place():
    with pytest.raises(QueryError) as caught:
        script("SELECT id FROM s [RANGE ${MINUTES} minutes]", MINUTE="5")
    error = caught.value
    assert (error.code, underlined(error)) == ("SW-150", "${MINUTES}")
    assert error.problem.hint == "did you mean 'MINUTE'?"


def test_a_missing_variable_in_a_string():
    with pytest.raises(QueryError, match="the variable 'A B' has no value"):
        script("SET spark.a = 'x ${A B} y'")


@pytest.mark.parametrize(
    "value", [*HOSTILE, "5 minutes", "a b", "a.b", "-5", "5%", "a;b", "(", "1e3", "x--", "0x1", "a" * 200]
)
def test_outside_of_strings_a_value_is_one_name_or_number(value: str):
    with pytest.raises(QueryError) as caught:
        script("SELECT ${X} FROM s", X=value)
    assert (caught.value.code, underlined(caught.value)) == ("SW-151", "${X}")


@pytest.mark.parametrize("text", ["a${X}", "${X}a", "1${X}", "${X}_", "${X}${X}"])
def test_nothing_may_be_attached_to_a_value(text: str):
    with pytest.raises(QueryError) as caught:
        script(f"SELECT {text} FROM s", X="id")
    assert caught.value.code == "SW-151"


@pytest.mark.parametrize("word", ["UNION", "select", "FROM", "null", "true", "range"])
def test_a_keyword_is_a_name(word: str):
    assert script("SELECT id AS ${A} FROM s", A=word).pipelines[0].plan.child.items[0].name == word


@given(value=st.text(max_size=30))
@example(value="'; INSERT INTO out SELECT 1; --")
@example(value="\\")
@example(value="${B}")
def test_a_value_in_a_string_is_that_string(value: str):
    """Whatever the value holds, the plan compares the column with exactly it, and is one statement."""
    made = script("SELECT id FROM s WHERE name = '<${A}>'", A=value)
    assert len(made.pipelines) == 1
    plain = made.settings
    assert plain == {}
    text = script("SET spark.a = '<${A}>'", A=value).settings["spark.a"]
    assert text == f"<{value}>"
    (condition,) = (node.condition.sql for node in walk(made.pipelines[0].plan) if isinstance(node, Select))
    assert condition.startswith("name = '<")
    assert condition.endswith(">'")
