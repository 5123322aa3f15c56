"""Canonical text means to Spark what the text of the user means."""
# ruff: noqa: E501, S608 (expressions are kept in few lines, and the statements are this file's own)

from slackwater.lang import bind_query, parse_script, print_query

COLUMNS = (
    "a INT, b BIGINT, d DOUBLE, s STRING, t TIMESTAMP, u DATE, arr ARRAY<INT>, st STRUCT<x: INT, y: STRUCT<z: STRING>>"
)
ROWS = """
    (7, 1000L, 1000.0D, 'a,b', timestamp'2020-03-04 05:06:07', date'2020-03-04', array(3, 1, 2),
     named_struct('x', 1, 'y', named_struct('z', 'q'))),
    (NULL, 5L, 0.5D, 'xyz', timestamp'2021-03-31 23:59:59', date'2021-03-31', array(9),
     named_struct('x', 2, 'y', named_struct('z', 'r')))
"""
EXPRESSIONS = [
    *("a + b * 2 - -a", "(a + b) * 2", "a / 2", "a DIV 2", "a % 2", "-a", "~a", "a & 3 | 4 ^ 1", "a <=> NULL", "a <> 7"),
    *("a IN (7, 8)", "a NOT IN (7)", "a BETWEEN 1 AND 9", "NOT (a > 1 AND b > 1)", "a IS NULL OR b = 5 AND d > 1"),
    *("'it''s'", "'it\\'s'", "'a\\\\b'", "\"q\"", "r'\\d'", "'a' 'b'", "'a' || 'b'", "s LIKE 'a%'", "s RLIKE 'a.*'"),
    *("CAST(d AS INT)", "d::string", "1L", "1.5D", "2.50BD", "1e3", ".5", "5S", "X'1F'", "TRY_CAST(s AS INT)"),
    *("CASE WHEN a > 1 THEN 'x' ELSE 'y' END", "CASE a WHEN 7 THEN 1 END", "IF(a > 1, 1, 2)", "NVL(a, 0)", "NVL2(a, 1, 2)"),
    *("log10(b)", "log(d)", "log(2, d)", "ln(d)", "power(d, 2)", "round(d, -1)", "bround(2.5, 0)", "ceil(d)", "mod(a, 4)"),
    *("instr(s, 'b')", "instr('abcabc', 'b', 1, 2)", "locate('b', s)", "position('b' IN s)", "substr(s, 2)", "left(s, 1)"),
    *("to_char(78.12, '$99.99')", "split(s, ',')[0]", "regexp_extract(s, '(a)(,)', 2)", "regexp_replace(s, 'a', 'b')"),
    *("trim(BOTH 'a' FROM s)", "lpad(s, 5, '0')", "concat_ws('-', s, 'x')", "format_string('%s!', s)", "initcap(s)"),
    *("t + INTERVAL 5 MINUTES", "t - INTERVAL '1' DAY", "date_add(u, 3)", "date_sub(u, 3)", "datediff(u, DATE '2020-01-01')"),
    *("date_trunc('HOUR', t)", "trunc(u, 'MM')", "date_format(t, 'yyyy-MM-dd HH')", "extract(HOUR FROM t)", "dayofweek(u)"),
    *("to_timestamp('2020-01-01', 'yyyy-MM-dd')", "unix_timestamp(t)", "from_unixtime(b)", "months_between(t, TIMESTAMP '2020-01-01')"),
    *("from_utc_timestamp(t, 'Europe/Paris')", "timestampdiff(HOUR, TIMESTAMP '2020-01-01', t)", "timestampadd(DAY, 1, t)"),
    *("st.x", "st.y.z", "S.st.y.z", "arr[0]", "element_at(arr, 1)", "size(arr)", "sort_array(arr, false)", "slice(arr, 1, 1)"),
    *("transform(arr, x -> x * 2)", "aggregate(arr, 0, (x, y) -> x + y)", "filter(arr, x -> x > 1)", "exists(arr, x -> x > 8)"),
    *("array(1, 2)[1]", "map('k', a)['k']", "named_struct('f', a).f", "struct(a, s)", "array_contains(arr, 9)", "hash(a, s)"),
    *("get_json_object('{\"k\": [1, 2]}', '$.k[1]')", "CAST(parse_json('[1]') AS STRING)", "md5(s)", "sha2(s, 256)", "hex(b)"),
]  # fmt: skip
AGGREGATES = [
    *("COUNT(*)", "COUNT(a)", "COUNT(DISTINCT b, s)", "SUM(b) / COUNT(*)", "mean(d)", "AVG(b) FILTER (WHERE d > 1)"),
    *("COUNT(*) FILTER (WHERE a IS NULL)", "COUNT(DISTINCT b) FILTER (WHERE b > 5)", "MAX(t)", "MIN(st.x)", "std(d)"),
    *("percentile_cont(0.25) WITHIN GROUP (ORDER BY b)", "approx_percentile(b, 0.5)", "max_by(s, b)", "every(d > 0)"),
    *("variance(d)", "var_samp(d)", "stddev_pop(d)", "collect_list(b)", "bit_or(b)", "count_if(d > 1)", "some(d > 999)"),
    *("FIRST(a, true)", "corr(b, d)", "skewness(d)", "MAX(b) - MIN(b) > 5 AND NOT COUNT(a) = 0", "median(d)"),
]  # fmt: skip


def canonical(expressions: list[str]) -> str:
    """Return the select list as it is printed from the plan."""
    catalog = parse_script(f"CREATE STREAM S ({COLUMNS}) USING json TIMESTAMP BY t").catalog
    items = ", ".join(f"{expression} AS c{number}" for number, expression in enumerate(expressions))
    return print_query(bind_query(f"SELECT {items} FROM S [RANGE 1 minute]", catalog)).partition("\nFROM ")[0]


def test_spark_computes_the_same(spark):
    spark.sql(f"SELECT * FROM VALUES {ROWS} AS S(a, b, d, s, t, u, arr, st)").createOrReplaceTempView("S")
    for expressions in (EXPRESSIONS, AGGREGATES):
        written = ", ".join(f"{expression} AS c{number}" for number, expression in enumerate(expressions))
        asked = spark.sql(f"SELECT {written} FROM S").collect()
        given = spark.sql(f"{canonical(expressions)} FROM S").collect()
        differing = [
            (expression, one[number], two[number])
            for one, two in zip(asked, given, strict=True)
            for number, expression in enumerate(expressions)
            if repr(one[number]) != repr(two[number])
        ]
        assert differing == []
    spark.catalog.dropTempView("S")
