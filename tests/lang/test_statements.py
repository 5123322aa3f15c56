"""The statements of a script: what they declare, in which order, and what is wrong with them."""
# ruff: noqa: S608 (no query here reaches a database)

import pytest
from tests.lang.streams import underlined

from slackwater.algebra.catalog import Catalog, SinkDef, StreamDef
from slackwater.algebra.nodes import Emit, Mode
from slackwater.algebra.schema import Expr, Field
from slackwater.errors import QueryError
from slackwater.lang import bind_query, parse_script

STREAM = "CREATE STREAM s (id INT, t TIMESTAMP) USING json TIMESTAMP BY t;\n"
SINK = "CREATE SINK out USING console;\n"


def refused(script: str) -> QueryError:
    with pytest.raises(QueryError) as caught:
        parse_script(script)
    assert caught.value.place is not None
    assert caught.value.problem.hint
    return caught.value


def test_a_stream_with_everything():
    script = parse_script("""
        CREATE STREAM Traffic (
            vehID INTEGER, `road name` STRING, speed DECIMAL(10, 2), tags ARRAY<STRUCT<k: STRING, v: INT>>,
            timestamp TIMESTAMP, received TIMESTAMP, op STRING, PRIMARY KEY (VEHID, speed)
        )
        USING kafka OPTIONS (kafka.bootstrap.servers 'a:1,b:2', subscribe = "traffic", 'max.rows' 10, lazy true, n -1)
        CHANGELOG BY op SOURCE BY vehid ARRIVAL BY received TIMESTAMP BY timestamp
    """)
    assert script.streams == (
        StreamDef(
            "Traffic",
            (
                Field("vehID", "int"),
                Field("road name", "string"),
                Field("speed", "decimal(10,2)"),
                Field("tags", "array<struct<k:string,v:int>>"),
                Field("timestamp", "timestamp"),
                Field("received", "timestamp"),
                Field("op", "string"),
            ),
            "kafka",
            {
                "kafka.bootstrap.servers": "a:1,b:2",
                "subscribe": "traffic",
                "max.rows": "10",
                "lazy": "true",
                "n": "-1",
            },
            "timestamp",
            "received",
            "vehID",
            "op",
            ("vehID", "speed"),
        ),
    )


def test_a_sink_and_its_pipeline():
    script = parse_script(
        STREAM + "CREATE SINK Out USING 'org.example.Sink' OPTIONS (path '/x')\n;INSERT INTO out SELECT id FROM s;"
    )
    assert script.sinks == (SinkDef("Out", "org.example.Sink", {"path": "/x"}),)
    (pipeline,) = script.pipelines
    assert (pipeline.name, pipeline.sink) == ("Out", script.sinks[0])


def test_plain_queries_are_pipelines_without_a_sink():
    script = parse_script(STREAM + "SELECT id FROM s; SELECT id FROM s EMIT CHANGES;;")
    assert [(pipeline.name, pipeline.sink) for pipeline in script.pipelines] == [("query", None), ("query2", None)]


def test_views_are_declared_with_their_keys_and_used_by_later_statements():
    script = parse_script(
        STREAM + "CREATE VIEW v PRIMARY KEY (id % 10, n) AS SELECT id, COUNT(*) AS n FROM s GROUP BY id EMIT CHANGES;"
        "SELECT n FROM v EMIT CHANGES"
    )
    (view,) = script.views
    assert view.key == (Expr("id % 10", "int"), Expr("n", "bigint"))
    assert isinstance(view.query, Emit) and view.query.mode is Mode.CHANGES
    assert bind_query("SELECT n FROM V EMIT CHANGES", script.catalog) == script.pipelines[0].plan


def test_a_view_that_changes_has_no_final_answer():
    text = STREAM + "CREATE VIEW v AS SELECT COUNT(*) AS n FROM s EMIT CHANGES; SELECT n FROM v"
    error = refused(text)
    assert (error.code, underlined(error)) == ("SW-230", "v")


def test_explain_says_what_to_explain():
    script = parse_script(
        STREAM + "EXPLAIN SELECT id FROM s; explain rewrites SELECT id FROM s; EXPLAIN PHYSICAL SELECT id FROM s"
    )
    assert [each.what for each in script.explains] == ["plan", "rewrites", "physical"]
    assert script.pipelines == ()


def test_settings_are_texts():
    script = parse_script(
        "SET spark.sql.shuffle.partitions = 8; set spark.ui.enabled = true; SET spark.a = 'b c'; SET spark.x-y = -1.5"
    )
    assert script.settings == {
        "spark.sql.shuffle.partitions": "8",
        "spark.ui.enabled": "true",
        "spark.a": "b c",
        "spark.x-y": "-1.5",
    }


def test_a_script_goes_on_from_a_catalog():
    catalog = parse_script(STREAM).catalog
    assert parse_script("SELECT id FROM s", catalog=catalog).pipelines
    assert parse_script("CREATE STREAM r (id INT) USING json", catalog=catalog).streams[0].name == "r"


@pytest.mark.parametrize(
    ("script", "code", "at"),
    [
        ("CREATE TABLE x (a INT)", "SW-131", "TABLE"),
        ("CREATE", "SW-131", ""),
        ("CREATE STREAM", "SW-101", ""),
        ("CREATE STREAM x USING json", "SW-101", "USING"),
        ("CREATE STREAM x () USING json", "SW-101", ")"),
        ("CREATE STREAM x (a) USING json", "SW-203", ")"),
        ("CREATE STREAM x (a foo) USING json", "SW-203", "foo"),
        ("CREATE STREAM x (a INT NOT NULL) USING json", "SW-203", "INT NOT NULL"),
        ("CREATE STREAM x (a ARRAY<foo>) USING json", "SW-203", "ARRAY<foo>"),
        ("CREATE STREAM x (a TIME) USING json", "SW-203", "TIME"),
        ("CREATE STREAM x (a INT b INT) USING json", "SW-203", "INT b INT"),
        ("CREATE STREAM x (a INT, A INT) USING json", "SW-206", "A"),
        ("CREATE STREAM x (`a.b` INT) USING json", "SW-219", "`a.b`"),
        ("CREATE STREAM `` (a INT) USING json", "SW-219", "``"),
        ("CREATE STREAM x (a INT)", "SW-132", ""),
        ("CREATE STREAM x (a INT) USNG json", "SW-132", "USNG"),
        ("CREATE STREAM x (a INT) USING json USING json", "SW-123", "USING"),
        ("CREATE STREAM x (a INT) USING json TIMESTAMP BY b", "SW-201", "b"),
        ("CREATE STREAM x (a INT) USING json TIMESTAMP BY a", "SW-210", "a"),
        ("CREATE STREAM x (a INT) USING json ARRIVAL BY a", "SW-210", "a"),
        ("CREATE STREAM x (a INT) USING json TIMESTAMP a", "SW-101", "a"),
        ("CREATE STREAM x (a INT, PRIMARY KEY (b)) USING json", "SW-201", "b"),
        ("CREATE STREAM x (a INT) USING json OPTIONS (path)", "SW-135", ")"),
        ("CREATE STREAM x (a INT) USING json OPTIONS (path 'a' mode 'b')", "SW-135", "mode"),
        ("CREATE STREAM x (a INT) USING json OPTIONS (path 'a', PATH 'b')", "SW-123", "PATH"),
        ("CREATE STREAM x (a INT) USING json OPTIONS path 'a'", "SW-101", "path"),
        ("CREATE SINK x", "SW-132", ""),
        ("CREATE SINK x USING console TIMESTAMP BY t", "SW-132", "TIMESTAMP"),
        (STREAM + "CREATE STREAM S (a INT) USING json", "SW-207", "S"),
        (STREAM + "CREATE VIEW S AS SELECT id FROM s", "SW-207", "S"),
        (SINK + SINK, "SW-207", "out"),
        (STREAM + "CREATE VIEW v SELECT id FROM s", "SW-101", "SELECT"),
        (STREAM + "CREATE VIEW v AS", "SW-101", ""),
        (STREAM + "CREATE VIEW v PRIMARY KEY (MAX(id)) AS SELECT id FROM s", "SW-220", "MAX(id)"),
        (STREAM + "CREATE VIEW v PRIMARY KEY (t) AS SELECT id FROM s", "SW-201", "t"),
        (STREAM + SINK + "INSERT INTO oot SELECT id FROM s", "SW-208", "oot"),
        (STREAM + SINK + "INSERT out SELECT id FROM s", "SW-101", "out"),
        (STREAM + SINK + "INSERT INTO out VALUES (1)", "SW-101", "VALUES"),
        (STREAM + SINK + "INSERT INTO out", "SW-101", ""),
        (STREAM + SINK + "INSERT INTO out SELECT id FROM s; INSERT INTO out SELECT id FROM s", "SW-207", "out"),
        ("EXPLAIN", "SW-133", ""),
        ("EXPLAIN REWRITES", "SW-133", ""),
        ("EXPLAIN REWRITE SELECT 1", "SW-101", "REWRITE"),
        ("EXPLAIN CREATE STREAM x (a INT) USING json", "SW-101", "CREATE"),
        ("SET a", "SW-101", ""),
        ("SET a =", "SW-135", ""),
        ("SET = 1", "SW-101", "="),
        ("SET a = 1 2", "SW-101", "2"),
        ("SET a = 1", "SW-229", "a"),
        ("SET changelog.updates = true", "SW-229", "changelog.updates"),
        ("SET Spark.sql.shuffle.partitions = 8", "SW-229", "Spark.sql.shuffle.partitions"),
        ("DROP STREAM x", "SW-130", "DROP"),
        ("SELEC 1", "SW-130", "SELEC"),
        ("", "SW-105", ""),
        (" \n -- nothing\n /* at all */ ; ", "SW-105", ""),
    ],
)  # fmt: skip
def test_mistakes(script: str, code: str, at: str):
    error = refused(script)
    assert (error.code, underlined(error).strip()) == (code, at)


@pytest.mark.parametrize(
    ("query", "code"), [("SELECT 1; SELECT 2", "SW-130"), ("SET a = 1", "SW-130"), (";", "SW-105")]
)
def test_a_query_is_a_single_one(query: str, code: str):
    with pytest.raises(QueryError) as caught:
        bind_query(query, Catalog())
    assert caught.value.code == code


def test_the_place_names_file_line_and_column():
    with pytest.raises(QueryError) as caught:
        parse_script(STREAM + "\n\tSELECT idd\n\tFROM s", file="traffic.sql")
    assert str(caught.value).splitlines()[1:4] == ["  at traffic.sql:3:9", "  3 |  SELECT idd", "    |         ^^^"]
