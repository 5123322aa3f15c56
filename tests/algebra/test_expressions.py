"""Expressions: typed as Spark types them, taken apart and put together."""

import pytest

from slackwater.algebra.expressions import (
    columns,
    conjunction,
    conjuncts,
    parse_expr,
    replace_columns,
    spark_type,
    type_expr,
)
from slackwater.algebra.schema import UNKNOWN, Expr, Field, Schema
from slackwater.errors import QueryError

SCHEMA = Schema(
    tuple(
        Field(name, kind)
        for name, kind in [
            ("i", "int"),
            ("b", "bigint"),
            ("d", "double"),
            ("s", "string"),
            ("ts", "timestamp"),
            ("price", "decimal(10,2)"),
            ("a", "array<int>"),
            ("st", "struct<x:int,y:string>"),
            ("Group", "string"),
            ("a b", "int"),
        ]
    )
)
EXPRESSIONS = [
    "i + 1",
    "i / 2",
    "i % 3",
    "-i",
    "i + b",
    "i + d",
    "s || 'x'",
    "UPPER(s)",
    "`group`",
    "`a b` + 1",
    "st.x",
    "a[0]",
    "i > 1 AND d < 2",
    "i IS NULL",
    "i IN (1, 2)",
    "i BETWEEN 1 AND 2",
    "s LIKE 'a%'",
    "CASE WHEN i > 1 THEN d ELSE 2 END",
    "CAST(i AS STRING)",
    "ts + INTERVAL '1' MINUTE",
    "HOUR(ts)",
    "COALESCE(d, 0)",
    "AVG(i)",
    "SUM(i)",
    "SUM(d)",
    "SUM(price)",
    "AVG(price)",
    "CAST(s AS DECIMAL)",
    "MAX(CAST(s AS DECIMAL(5)))",
    "SUM(CAST(s AS DECIMAL))",
    "AVG(CAST(s AS DECIMAL(7, 2)))",
    "COUNT(*)",
    "COUNT(DISTINCT i)",
    "MAX(ts)",
    "MIN(s)",
    "STDDEV(d)",
    "STDDEV_SAMP(i)",
    "STDDEV_POP(price)",
    "VARIANCE(d)",
    "VAR_POP(i)",
    "BOOL_AND(i > 1)",
    "BOOL_OR(i > 1)",
    "ANY_VALUE(i)",
    "FIRST(i)",
    "LAST(s)",
    "MIN_BY(s, i)",
    "MAX_BY(price, s)",
    "BIT_AND(i)",
    "BIT_OR(b)",
    "BIT_XOR(i)",
]


@pytest.mark.spark
def test_types_are_those_that_spark_gives(spark):
    frame = spark.createDataFrame([], ", ".join(f"`{field.name}` {field.type}" for field in SCHEMA))
    ours = {sql: type_expr(parse_expr(sql), SCHEMA).type for sql in EXPRESSIONS}
    theirs = {sql: frame.selectExpr(type_expr(parse_expr(sql), SCHEMA).sql).dtypes[0][1] for sql in EXPRESSIONS}
    assert ours == theirs


def test_a_function_that_only_spark_knows_is_left_to_spark():
    assert type_expr(parse_expr("my_own(i)"), SCHEMA).type == UNKNOWN


def test_names_are_spelled_as_declared():
    assert type_expr(parse_expr("I + `GROUP`"), SCHEMA).sql == "i + `Group`"


def test_columns_are_named_once():
    assert columns(Expr("B.x + y * B.x", "int")) == ("B.x", "y")


def test_conjuncts_and_back():
    condition = Expr("a > 1 AND (b > 2 OR c > 3) AND NOT d", "boolean")
    parts = conjuncts(condition)
    assert [part.sql for part in parts] == ["a > 1", "(b > 2 OR c > 3)", "NOT d"]
    assert conjunction(parts) == condition


def test_a_part_that_binds_less_is_put_in_brackets():
    alternatives = conjunction((Expr("a OR b", "boolean"), Expr("c", "boolean")))
    assert conjuncts(alternatives)[0].sql == "(a OR b)"


def test_renaming_to_an_expression_keeps_precedence():
    assert replace_columns(Expr("x * 2", "int"), lambda _: parse_expr("a + 1")).sql == "(a + 1) * 2"


@pytest.mark.parametrize("wrong", ["integerr", "", "int int", "select", "decimal(", "array<"])
def test_what_is_no_type(wrong: str):
    with pytest.raises(QueryError, match="SW-203"):
        spark_type(wrong)


def test_nesting_without_end_is_an_error():
    with pytest.raises(QueryError, match="SW-101"):
        parse_expr("(" * 5000 + "1" + ")" * 5000)


@pytest.mark.parametrize("name", ["été", "E__été", "prénom", "ключ"])
def test_a_name_with_letters_beyond_ascii_is_quoted_as_spark_reads_no_other(name: str):
    assert replace_columns(Expr("x > 1", "boolean"), lambda _: name).sql == f"`{name}` > 1"
