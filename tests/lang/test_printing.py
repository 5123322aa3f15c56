"""Plans printed as SQL and read again are the same plans."""
# ruff: noqa: S608 (no query here reaches a database)

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lang.random_queries import Queries
from tests.lang.streams import CATALOG, bound
from tests.law_cases import law_cases

from slackwater.algebra.builder import scan
from slackwater.algebra.checks import check
from slackwater.algebra.lengths import Length
from slackwater.algebra.nodes import Emit, Frequency, Plan, Select
from slackwater.algebra.schema import Expr
from slackwater.errors import QueryError
from slackwater.lang import bind_query, parse_script, print_query
from slackwater.lang.parsing.lexing import tokens_of
from slackwater.lang.parsing.source_text import SourceText

KEYWORDS = {
    *(
        "SELECT",
        "FROM",
        "WHERE",
        "GROUP BY",
        "HAVING",
        "DISTINCT",
        "UNION",
        "ALL",
        "EMIT",
        "CHANGES",
        "JOIN",
        "ON",
        "AS",
    ),
    *("RANGE", "SLIDE", "FREQUENCY", "PARTITIONED BY", "DRATIO", "USING", "WITHIN", "SLACK", "BSIZE", "IDLE", "SKEW"),
    "TUPLES",
    *(
        "MINUTES",
        "SECONDS",
        "ROWS",
        "COUNT",
        "MAX",
        "AVG",
        "CASE",
        "WHEN",
        "THEN",
        "ELSE",
        "END",
        "AND",
        "OR",
        "NOT",
        "IN",
    ),
}
NAMES = [
    *("comment", "show", "use", "merge", "describe", "refresh", "cache", "load", "copy", "delete", "update", "analyze"),
    *("commit", "begin", "truncate", "kill", "grant", "insert", "drop", "create", "alter", "set", "group", "order"),
    *("select", "from", "where", "union", "values", "range", "frequency", "slide", "wattr", "slack", "emit", "final"),
    *("changes", "sync", "row", "rows", "tuple", "minute", "interval", "first", "last", "window", "filter", "over"),
    *("limit", "offset", "left", "right", "case", "when", "end", "if", "true", "false", "null", "not", "and", "or"),
    *("in", "is", "like", "between", "date", "timestamp", "current_date", "map", "array", "struct", "list", "key"),
    *("index", "view", "sink", "stream", "table", "explain", "partition", "percent", "top", "type", "x_1", "größe"),
    *("lock", "sample", "prewhere", "qualify", "my col", "1x", "a-b", "it's", "a[0]", "$x"),
]


@given(seed=st.integers(0, 2**32))
@settings(max_examples=law_cases(80), deadline=None)
def test_random_queries(seed: int):
    plan = bind_query(Queries(random.Random(seed)).query(), CATALOG)
    printed = print_query(plan)
    assert bind_query(printed, CATALOG) == plan
    assert print_query(bind_query(printed, CATALOG)) == printed
    assert check(plan) is plan


@given(seed=st.integers(0, 2**32))
@settings(max_examples=law_cases(25), deadline=None)
def test_blanks_comments_and_case_make_no_difference(seed: int):
    rng = random.Random(seed)
    query = Queries(rng).query()
    words = [query[token.start : token.end + 1] for token in tokens_of(SourceText(query), {})]
    gaps = [" ", "\n", "\t ", " /* a /* b */ */ ", " -- c\n", "\r\n"]
    spelled = [
        rng.choice([str.upper, str.lower, str.title])(word) if word.upper() in KEYWORDS else word for word in words
    ]
    again = "".join(rng.choice(gaps) + word for word in spelled)
    assert bind_query(again, CATALOG) == bind_query(query, CATALOG)


@pytest.mark.parametrize("name", NAMES)
def test_a_column_may_have_any_name(name: str):
    catalog = parse_script(f"CREATE STREAM s (`{name}` INT, t TIMESTAMP) USING json TIMESTAMP BY t").catalog
    for query in (
        f"SELECT `{name}`, `{name}` + 1 AS `x {name}`, -`{name}` * 2 AS y FROM s WHERE `{name}` < 1 AND `{name}` > 0",
        f"SELECT `{name}`, MAX(`{name}`), s.`{name}` + MIN(`{name}`) AS z FROM s [RANGE 1 minute] GROUP BY s.`{name}`",
        f"SELECT A.`{name}` [FREQUENCY 2 rows PARTITIONED BY `{name}`] FROM (SELECT `{name}` FROM s) A [RANGE 5 rows]",
        f"SELECT `{name}`.t AS `{name}` FROM s AS `{name}`",
    ):
        plan = bind_query(query, catalog)
        assert bind_query(print_query(plan), catalog) == plan


@pytest.mark.parametrize(
    "expression",
    [
        *("'it\\'s'", "'a\\\\b'", "'\\n'", '"x\'y"', "r'\\d+'", "''", "'日本'", "X'1F'", "1.50", "1e3", "5L", "0.1BD"),
        *("DATE '2024-01-01'", "TIMESTAMP '2024-01-01 00:00:00'", "ts + INTERVAL '1' DAY", "ts - INTERVAL 5 MINUTES"),
        *("- -speed", "-(-speed)", "NOT NOT speed > 1", "speed IS NOT NULL", "speed <=> 1", "speed DIV 2", "~segment"),
        *("tags[0]", "place.at.km", "named_struct('a', 1).a", "map('a', 1)['a']", "transform(tags, x -> upper(x))"),
        *("date_trunc('hour', ts)", "from_utc_timestamp(ts, 'UTC')", "extract(hour FROM ts)", "my_function(speed, 1)"),
        *("CASE segment WHEN 1 THEN 'a' END", "IF(speed > 1, 1, 2)", "speed IN (1, 2)", "place.road LIKE 'a%'"),
        *("percentile_approx(speed, 0.5)", "collect_list(vehID)", "FIRST(speed) IGNORE NULLS", "max_by(speed, ts)"),
        *("COUNT(DISTINCT vehID, segment)", "percentile_cont(0.5) WITHIN GROUP (ORDER BY speed)", "mean(speed)"),
    ],
)
def test_expressions_of_spark(expression: str):
    plan = bind_query(f"SELECT {expression} AS x FROM Sensors [RANGE 1 minute]", CATALOG)
    assert bind_query(print_query(plan), CATALOG) == plan


def test_percentile_cont_stays_exact():
    """sqlglot would write PERCENTILE_APPROX."""
    plan = bound("SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY speed) AS x FROM Sensors [RANGE 1 minute]")
    assert "PERCENTILE(speed, 0.5)" in print_query(plan)


def test_ratios_are_printed_as_they_were_read():
    for percent in ("1", "0.1", "0.000000000001", "33.333333333333", "99.99", "0.007", "14.000000000000002"):
        plan = bind_query(f"SELECT vehID FROM Sensors [DRATIO {percent}%]", CATALOG)
        assert bind_query(print_query(plan), CATALOG) == plan


def test_a_printed_query_reads_well():
    query = """
        SELECT PR.Id, AVG(PR.Rate) [Frequency 1 Minute Partitioned By PR.Id]
        FROM (SELECT P.Id, COUNT(*) [Frequency 10 Tuples Partitioned By P.Id] AS Rate
              FROM Pulse P [Range 1 Minute, Frequency 1 Tuple] GROUP BY P.Id) AS PulseRate PR [Range 1 Hour]
        GROUP BY PR.Id HAVING AVG(PR.Rate) > 100"""
    assert print_query(bind_query(query, CATALOG)).splitlines() == [
        "SELECT Id, AVG(Rate) AS avg_rate [FREQUENCY 1 minute PARTITIONED BY Id]",
        "FROM (SELECT Id, COUNT(*) AS Rate [FREQUENCY 10 tuples PARTITIONED BY Id]",
        "  FROM Pulse AS P [RANGE 1 minute, WATTR Timestamp]",
        "  GROUP BY Id) AS PR [RANGE 1 hour]",
        "GROUP BY Id",
        "HAVING AVG(Rate) > 100",
    ]


@pytest.mark.parametrize(
    "plan",
    [
        scan("Sensors").plan,
        Emit(Select(scan("Sensors").plan, Expr("speed > 1", "boolean"))),
        scan("Sensors").where("speed > 1").where("vehID > 1").select("vehID").plan,
        Frequency(scan("Sensors").select("vehID").plan, Length.of(1, "minute"), strict=True),
        scan("Sensors").frequency("1 minute", strict=True).select("vehID").plan,
    ],
)
def test_plans_without_a_query_say_so(plan: Plan):
    with pytest.raises(QueryError) as caught:
        print_query(plan)
    assert caught.value.code == "SW-310"
