"""What names, stars, groups, views and joins become in a plan."""
# ruff: noqa: E501, S608 (queries are kept on one line, and none reaches a database)

import pytest
from tests.lang.streams import CATALOG, bound, refused, underlined

from slackwater.algebra.lengths import Length
from slackwater.algebra.nodes import (
    Aggregate,
    Distinct,
    Emit,
    Frequency,
    Join,
    Minus,
    Mode,
    Plan,
    Project,
    Select,
    Subquery,
    Union,
    View,
    Window,
    walk,
)
from slackwater.algebra.properties.columns import schema_of
from slackwater.lang import bind_query

W = "[RANGE 5 minutes SLIDE 1 minute]"


def items(query: str) -> list[tuple[str, str]]:
    plan = bound(query)
    assert isinstance(plan, Project)
    return [(item.name, item.expr.sql) for item in plan.items]


def aggregate(query: str) -> Aggregate:
    return next(node for node in walk(bound(query)) if isinstance(node, Aggregate))


def calls(query: str) -> list[tuple[str, str]]:
    return [(item.name, item.expr.sql) for item in aggregate(query).aggregates]


def groups(query: str) -> list[tuple[str, str]]:
    return [(item.name, item.expr.sql) for item in aggregate(query).group]


def condition(plan: Plan) -> str:
    return next(node.condition.sql for node in walk(plan) if isinstance(node, Select))


# --- select lists


def test_a_star_is_every_column_in_order():
    assert [name for name, _ in items("SELECT * FROM BodyCondition")] == [
        "Id",
        "Species",
        "BTemp",
        "BloodP",
        "Timestamp",
    ]


def test_a_star_of_one_source_in_a_join():
    query = "SELECT p.*, b.Species FROM Pulse p [RANGE 1 minute], BodyCondition b [RANGE 1 minute]"
    assert items(query) == [("Id", "p.Id"), ("Timestamp", "p.Timestamp"), ("Species", "Species")]


def test_columns_keep_the_spelling_of_their_declaration():
    assert items("SELECT VEHID, sensors.SPEED FROM sensors") == [("vehID", "vehID"), ("speed", "speed")]


def test_a_column_has_its_alias_in_canonical_text_only_where_it_must():
    query = "SELECT a.vehID AS x, b.vehID AS y, p.Id FROM Sensors a, Sensors b, Pulse p"
    assert items(query) == [("x", "a.vehID"), ("y", "b.vehID"), ("Id", "Id")]


def test_expressions_without_an_alias_are_named_after_their_text():
    query = (
        f"SELECT MAX(speed), COUNT(*), COUNT(DISTINCT segment), MAX(speed) - MIN(speed), 1 + 1, 1 - 1 FROM Sensors {W}"
    )
    assert [name for name, _ in items(query)] == [
        "max_speed",
        "count",
        "count_distinct_segment",
        "max_speed_min_speed",
        "c_1_1",
        "c_1_1_2",
    ]


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("speed != 1", "speed <> 1"),
        ("((speed))", "speed"),
        ("(speed + 1) * 2", "(speed + 1) * 2"),
        ("not speed is null", "NOT speed IS NULL"),
        ("place.road", "place['road']"),
        ("Sensors.place.at.km", "place['at']['km']"),
        ("f(speed).x", "F(speed)['x']"),
        ("speed::int", "CAST(speed AS INT)"),
        ("if(speed>1,'a','b')", "IF(speed > 1, 'a', 'b')"),
        ("ts + interval 5 minutes", "ts + INTERVAL '5' MINUTES"),
    ],
)
def test_expressions_have_one_spelling(written: str, canonical: str):
    assert items(f"SELECT {written} AS x FROM Sensors") == [("x", canonical)]


def test_types_are_those_of_spark():
    query = f"SELECT COUNT(*) a, SUM(segment) b, AVG(segment) c, MAX(ts) d, LAST(place) e, 'x' f FROM Sensors {W}"
    assert [field.type for field in schema_of(bound(query))] == [
        "bigint",
        "bigint",
        "double",
        "timestamp",
        "struct<road:string,at:struct<km:int>>",
        "string",
    ]


# --- grouping


def test_each_aggregate_call_is_made_once():
    query = f"SELECT AVG(speed), AVG(speed) * 2 AS twice FROM Sensors {W} HAVING avg(SPEED) > 1 AND MAX(speed) > 2"
    assert calls(query) == [("avg_speed", "AVG(speed)"), ("max_speed", "MAX(speed)")]
    assert items(query) == [("avg_speed", "avg_speed"), ("twice", "avg_speed * 2")]
    assert condition(bound(query)) == "avg_speed > 1 AND max_speed > 2"


def test_a_bare_column_is_the_last_of_its_group():
    query = f"SELECT vehID, speed, LAST(speed) AS again, segment + 1 AS next FROM Sensors {W} GROUP BY vehID"
    assert calls(query) == [("speed", "LAST(speed)"), ("segment", "LAST(segment)")]
    assert items(query) == [("vehID", "vehID"), ("speed", "speed"), ("again", "speed"), ("next", "segment + 1")]


def test_groups_by_expression_alias_and_position():
    by_expression = bound(f"SELECT segment % 10 AS part, COUNT(*) AS n FROM Sensors {W} GROUP BY segment % 10")
    assert by_expression == bound(f"SELECT segment % 10 AS part, COUNT(*) AS n FROM Sensors {W} GROUP BY part")
    assert by_expression == bound(f"SELECT segment % 10 AS part, COUNT(*) AS n FROM Sensors {W} GROUP BY 1")
    assert by_expression.items[0].expr.sql == "segment_10"


def test_a_column_goes_before_an_alias_of_the_same_name():
    assert groups(f"SELECT segment % 2 AS speed FROM Sensors {W} GROUP BY speed") == [("speed", "speed")]


def test_a_group_inside_a_larger_expression():
    query = f"SELECT (segment + 1) * 2 AS x, segment + 1 + MAX(speed) AS y FROM Sensors {W} GROUP BY segment + 1"
    assert items(query) == [("x", "segment_1 * 2"), ("y", "segment_1 + max_speed")]


def test_having_may_name_an_alias():
    assert condition(bound(f"SELECT MAX(speed) AS top FROM Sensors {W} HAVING top > 3")) == "max_speed > 3"


def test_a_field_of_an_aggregate():
    query = f"SELECT LAST(place).road, MAX(place).at.km AS km FROM Sensors {W}"
    assert items(query) == [("road", "place['road']"), ("km", "max_place['at']['km']")]


def test_having_alone_makes_one_group():
    query = f"SELECT vehID FROM Sensors {W} HAVING COUNT(*) > 3"
    assert (groups(query), calls(query)) == ([], [("vehID", "LAST(vehID)"), ("count", "COUNT(*)")])


def test_names_of_groups_and_calls_differ():
    query = f"SELECT a.segment AS x, b.segment AS y, COUNT(*) FROM Sensors a {W}, Sensors b {W} GROUP BY a.segment, b.segment"
    assert groups(query) == [("segment", "a.segment"), ("segment_2", "b.segment")]
    assert items(query) == [("x", "segment"), ("y", "segment_2"), ("count", "count")]


def test_a_filter_of_an_aggregate_is_a_case():
    query = (
        f"SELECT COUNT(*) FILTER (WHERE speed > 1) AS n, AVG(speed) FILTER (WHERE segment = 1) AS a FROM Sensors {W}"
    )
    assert [sql for _, sql in calls(query)] == [
        "COUNT(CASE WHEN speed > 1 THEN 1 END)",
        "AVG(CASE WHEN segment = 1 THEN speed END)",
    ]


def test_attributes_of_the_instant_are_no_columns_of_the_group():
    query = f"SELECT segment, window_start, WINDOW_END, row_time, COUNT(*) AS n FROM Sensors {W} GROUP BY segment, window_end"
    assert calls(query) == [("count", "COUNT(*)")]
    assert items(query)[1:4] == [
        ("window_start", "window_start"),
        ("window_end", "window_end"),
        ("row_time", "row_time"),
    ]


# --- the order of operators


def test_where_having_frequency_and_select_list_stand_in_this_order():
    plan = bound(
        f"SELECT segment, COUNT(*) AS n [FREQUENCY 3 tuples] FROM Sensors {W} "
        "WHERE speed > 1 GROUP BY segment HAVING COUNT(*) > 2"
    )
    assert [type(node).__name__ for node in walk(plan)] == [
        *("Project", "Frequency", "Select", "Aggregate", "Select", "Window", "Disorder", "Scan")
    ]


def test_a_frequency_of_a_distinct_result_acts_on_what_is_left():
    plan = bound(f"SELECT DISTINCT segment AS s [FREQUENCY 3 tuples PARTITIONED BY segment] FROM Sensors {W}")
    assert isinstance(plan, Frequency) and isinstance(plan.child, Distinct)
    assert plan.by == ("s",)


def test_a_frequency_of_the_result_is_not_one_of_the_window_below_it():
    """Right above a window a frequency picks instants; of the result it picks rows."""
    result = bound("SELECT vehID [FREQUENCY 100 tuples] FROM Sensors [RANGE 1 minute]")
    jump = bound("SELECT vehID FROM Sensors [RANGE 1 minute, FREQUENCY 100 tuples]")
    assert result != jump
    assert isinstance(jump.child, Frequency) and isinstance(jump.child.child, Window)
    assert isinstance(result.child, Frequency) and isinstance(result.child.child, Project)


def test_a_frequency_of_every_tuple_is_none():
    assert bound("SELECT vehID [FREQUENCY 1 tuple] FROM Sensors [FREQUENCY 1 tuple]") == bound(
        "SELECT vehID FROM Sensors"
    )


# --- sources


def test_a_subquery_has_a_schema_of_its_own():
    query = f"SELECT S.n, S.segment FROM (SELECT segment, COUNT(*) AS n FROM Sensors {W} GROUP BY segment) AS S"
    assert items(query) == [("n", "n"), ("segment", "segment")]


def test_both_names_of_a_subquery_can_be_used():
    inner = "(SELECT Id FROM Pulse) AS PulseRate PR"
    assert bound(f"SELECT PR.Id FROM {inner}") == bound(f"SELECT PulseRate.Id FROM {inner}")
    assert next(node.alias for node in walk(bound(f"SELECT Id FROM {inner}")) if isinstance(node, Subquery)) == "PR"


def test_a_view_stands_in_the_plan_under_its_name():
    view = next(node for node in walk(bound("SELECT R.Rate FROM rates R [RANGE 1 hour]")) if isinstance(node, View))
    assert (view.name, view.alias) == ("Rates", "R")
    assert not any(isinstance(node, Emit) for node in walk(view))


def test_joins_are_left_deep_and_conditions_stand_where_they_were_written():
    plan = bound(
        "SELECT a.vehID FROM Sensors a JOIN Sensors b ON a.vehID = b.vehID, Pulse p "
        "CROSS JOIN BodyCondition c WHERE p.Id = c.Id"
    )
    joins = [node for node in walk(plan) if isinstance(node, Join)]
    assert [join.condition and join.condition.sql for join in joins] == [None, None, "a.vehID = b.vehID"]
    assert condition(plan) == "p.Id = c.Id"


def test_a_subquery_at_boundaries_joins_a_window_with_the_same_slide():
    plan = bound(f"SELECT s.vehID FROM Sensors s {W}, Averages a WHERE a.segment = s.segment AND a.average < 40")
    assert isinstance(next(node for node in walk(plan) if isinstance(node, Join)).right, View)


def test_set_operations_lean_to_the_left():
    plan = bound("SELECT vehID FROM Sensors UNION ALL SELECT segment FROM Sensors UNION ALL SELECT Id FROM Pulse")
    assert isinstance(plan, Union) and isinstance(plan.left, Union)
    right = bound("SELECT vehID FROM Sensors UNION ALL (SELECT segment FROM Sensors UNION ALL SELECT Id FROM Pulse)")
    assert isinstance(right, Union) and isinstance(right.right, Union)


@pytest.mark.parametrize("word", ["EXCEPT", "MINUS", "EXCEPT DISTINCT"])
def test_except_and_minus_are_one(word: str):
    assert isinstance(bound(f"SELECT vehID FROM Sensors {W} {word} SELECT Id FROM Pulse {W}"), Minus)


# --- EMIT


@pytest.mark.parametrize(
    ("clause", "mode", "sync"),
    [
        ("", Mode.FINAL, False),
        ("EMIT FINAL", Mode.FINAL, False),
        ("EMIT ON WINDOW CLOSE", Mode.FINAL, False),
        ("emit final with sync", Mode.FINAL, True),
        ("EMIT CHANGES", Mode.CHANGES, False),
        ("Emit On Update", Mode.CHANGES, False),
    ],
)
def test_emit(clause: str, mode: Mode, sync: bool):
    for query in (
        f"SELECT vehID FROM Sensors {W}",
        f"SELECT vehID FROM Sensors {W} UNION ALL SELECT Id FROM Pulse {W}",
    ):
        root = bind_query(f"{query} {clause}", CATALOG)
        assert isinstance(root, Emit)
        assert (root.mode, root.sync) == (mode, sync)


def test_emit_is_a_name_elsewhere():
    assert items("SELECT emit.vehID AS emit FROM Sensors AS emit") == [("emit", "vehID")]


@pytest.mark.parametrize(
    ("query", "at"),
    [
        ("SELECT vehID, COUNT(*) FROM Sensors GROUP BY vehID", "vehID"),
        ("SELECT COUNT(*) FROM Sensors [FREQUENCY 10 tuples]", "COUNT(*)"),
        ("SELECT DISTINCT vehID FROM Sensors [RANGE 5 minutes]", "DISTINCT"),
        ("SELECT vehID FROM Sensors EXCEPT SELECT Id FROM Pulse", "SELECT Id FROM Pulse"),
        ("SELECT COUNT(*) FROM Sensors a [RANGE 1 minute], Sensors b [RANGE 1 minute]", "COUNT(*)"),
        ("SELECT n FROM (SELECT COUNT(*) AS n FROM Sensors) s", "COUNT(*)"),
    ],
)
def test_what_has_no_final_answer_needs_emit_changes(query: str, at: str):
    error = refused(query)
    assert (error.code, underlined(error)) == ("SW-230", at)
    assert "EMIT CHANGES" in error.problem.hint
    assert bind_query(f"{query} EMIT CHANGES", CATALOG)


# --- mistakes


@pytest.mark.parametrize(
    ("query", "code", "at", "said"),
    [
        ("SELECT speeed FROM Sensors", "SW-201", "speeed", "did you mean 'speed'?"),
        ("SELECT s.speed FROM Sensors", "SW-201", "s.speed", ""),
        ("SELECT place.raod FROM Sensors", "SW-201", "place.raod", "did you mean 'road'?"),
        ("SELECT speed.x FROM Sensors", "SW-201", "speed.x", ""),
        ("SELECT x.* FROM Sensors", "SW-201", "x.*", ""),
        ("SELECT Sensors.Sensors.speed FROM Sensors", "SW-201", "Sensors.Sensors.speed", ""),
        ("SELECT Sensors.row_time FROM Sensors", "SW-201", "Sensors.row_time", ""),
        ("SELECT 0 . speed FROM Sensors", "SW-140", "0 . speed", ""),
        ("SELECT vehID FROM Sensor", "SW-204", "Sensor", "did you mean 'Sensors'?"),
        ("SELECT vehID FROM Sensors a, Sensors b", "SW-202", "vehID", ""),
        ("SELECT a.vehID FROM Sensors a, Pulse A", "SW-205", "Pulse A", ""),
        ("SELECT vehID, speed AS VEHid FROM Sensors", "SW-206", "speed AS VEHid", ""),
        ("SELECT * FROM Sensors a, Sensors b", "SW-206", "*", ""),
        ("SELECT speed FROM Traffic", "SW-209", "Traffic", ""),
        ("SELECT vehID FROM (SELECT vehID FROM Sensors)", "SW-216", "SELECT vehID FROM Sensors", ""),
        ("SELECT vehID", "SW-136", "SELECT vehID", ""),
        ("SELECT vehID FROM Sensors GROUP BY 2 EMIT CHANGES", "SW-217", "2", ""),
        (f"SELECT DISTINCT vehID [FREQUENCY 5 rows PARTITIONED BY segment] FROM Sensors {W}", "SW-218", "FREQUENCY 5 rows PARTITIONED BY segment", ""),
        ("SELECT vehID AS `a.b` FROM Sensors", "SW-219", "`a.b`", ""),
        ("SELECT speed FROM Sensors WHERE MAX(speed) > 3", "SW-220", "MAX(speed)", "HAVING"),
        ("SELECT speed FROM Sensors GROUP BY MAX(speed)", "SW-220", "MAX(speed)", ""),
        ("SELECT MAX(speed) AS m FROM Sensors GROUP BY m", "SW-220", "m", ""),
        (f"SELECT MAX(AVG(speed)) FROM Sensors {W}", "SW-220", "AVG(speed)", ""),
        ("SELECT a.vehID FROM Sensors a JOIN Sensors b ON MAX(a.speed) > 3", "SW-220", "MAX(a.speed)", ""),
        ("SELECT vehID FROM Sensors WHERE speed + 1", "SW-224", "speed + 1", ""),
        (f"SELECT vehID FROM Sensors {W} HAVING MAX(speed)", "SW-224", "MAX(speed)", ""),
        ("SELECT window_end FROM Sensors [RANGE 1 minute]", "SW-225", "window_end", "SLIDE"),
        ("SELECT row_number FROM Sensors a, Sensors b", "SW-225", "row_number", ""),
        ("SELECT vehID FROM Sensors UNION ALL SELECT vehID, speed FROM Sensors", "SW-226", "SELECT vehID, speed FROM Sensors", ""),
        ("SELECT vehID FROM Sensors UNION ALL SELECT ts FROM Sensors", "SW-226", "SELECT ts FROM Sensors", "CAST"),
        (f"SELECT a.vehID FROM Sensors a {W}, Sensors b [RANGE 5 minutes SLIDE 2 minutes]", "SW-227", "Sensors b", "SLIDE"),
        (f"SELECT a.vehID FROM Sensors a {W} JOIN Sensors b ON a.vehID = b.vehID", "SW-227", "Sensors b", "SLIDE"),
        ("SELECT a.vehID FROM Sensors a [RANGE 1 minute, FREQUENCY 5 tuples], Sensors b [RANGE 1 minute]", "SW-227", "Sensors b", ""),
        (f"SELECT vehID FROM Sensors {W} EXCEPT SELECT vehID FROM Sensors", "SW-227", "SELECT vehID FROM Sensors", "SLIDE"),
        ("SELECT vehID FROM Sensors EMIT FINAL WITH SYNC", "SW-231", "EMIT FINAL WITH SYNC", "SLIDE"),
        ("SELECT vehID FROM (SELECT vehID FROM Sensors EMIT CHANGES) s", "SW-232", "EMIT CHANGES", ""),
        ("SELECT vehID FROM Sensors EMIT CHANGES UNION ALL SELECT Id FROM Pulse", "SW-232", "EMIT CHANGES", ""),
    ],
)  # fmt: skip
def test_mistakes_of_meaning(query: str, code: str, at: str, said: str):
    error = refused(query)
    assert (error.code, underlined(error)) == (code, at)
    assert said in error.problem.hint


@pytest.mark.parametrize(
    "query",
    [
        "WITH x AS (SELECT vehID FROM Sensors) SELECT vehID FROM x",
        "SELECT vehID FROM Sensors ORDER BY vehID",
        "SELECT vehID FROM Sensors LIMIT 5",
        "SELECT vehID FROM Sensors UNION SELECT Id FROM Pulse",
        "SELECT vehID FROM Sensors INTERSECT SELECT Id FROM Pulse",
        "SELECT vehID FROM Sensors EXCEPT ALL SELECT Id FROM Pulse",
        "SELECT vehID FROM Sensors LEFT JOIN Pulse ON vehID = Id",
        "SELECT vehID FROM Sensors FULL OUTER JOIN Pulse ON vehID = Id",
        "SELECT vehID FROM Sensors LEFT SEMI JOIN Pulse ON vehID = Id",
        "SELECT vehID FROM Sensors NATURAL JOIN Pulse",
        "SELECT a.vehID FROM Sensors a JOIN Sensors b USING (vehID)",
        "SELECT SUM(speed) OVER (PARTITION BY vehID) FROM Sensors",
        "SELECT RANK() FROM Sensors",
        "SELECT explode(tags) FROM Sensors",
        "SELECT window(ts, '5 minutes') FROM Sensors",
        "SELECT vehID FROM Sensors WHERE vehID IN (SELECT Id FROM Pulse)",
        "SELECT vehID FROM Sensors WHERE EXISTS (SELECT Id FROM Pulse)",
        "SELECT (SELECT MAX(Id) FROM Pulse) FROM Sensors",
        "SELECT * EXCEPT (vehID) FROM Sensors",
        "SELECT DISTINCT ON (vehID) vehID FROM Sensors",
        "SELECT vehID FROM Sensors GROUP BY ALL",
        "SELECT vehID FROM Sensors GROUP BY ROLLUP (vehID)",
        "SELECT vehID FROM Sensors GROUP BY vehID WITH CUBE",
        "SELECT vehID FROM Sensors LATERAL VIEW explode(tags) t AS tag",
        "SELECT vehID FROM Sensors TABLESAMPLE (10 PERCENT)",
        "SELECT vehID FROM db.Sensors",
        "SELECT id FROM range(10)",
        "SELECT ? FROM Sensors",
        "SELECT /*+ BROADCAST(Sensors) */ vehID FROM Sensors",
    ],
)
def test_parts_of_sql_without_a_meaning_here_say_what_to_use(query: str):
    assert refused(query).code in ("SW-140", "SW-141")


W1 = "[RANGE 1 minute SLIDE 1 minute]"


@pytest.mark.parametrize(
    ("query", "said", "followed"),
    [
        (
            f"SELECT a.vehID FROM Sensors a {W1} LEFT JOIN Pulse b {W1} ON a.vehID = b.Id",
            "UNION ALL SELECT key ... EXCEPT SELECT key",
            f"SELECT a.vehID, b.Id FROM Sensors a {W1} JOIN Pulse b {W1} ON a.vehID = b.Id UNION ALL SELECT vehID, NULL AS Id "
            f"FROM (SELECT vehID FROM Sensors {W1} EXCEPT SELECT Id FROM Pulse {W1}) AS q",
        ),
        (
            f"SELECT a.vehID FROM Sensors a {W1} LEFT ANTI JOIN Pulse b {W1} ON a.vehID = b.Id",
            "EXCEPT SELECT key FROM right",
            f"SELECT vehID FROM Sensors {W1} EXCEPT SELECT Id FROM Pulse {W1}",
        ),
        (
            f"SELECT a.vehID FROM Sensors a {W1} LEFT SEMI JOIN Pulse b {W1} ON a.vehID = b.Id",
            "SELECT DISTINCT",
            f"SELECT DISTINCT a.vehID FROM Sensors a {W1} JOIN Pulse b {W1} ON a.vehID = b.Id",
        ),
        (f"SELECT a.vehID FROM Sensors a {W1} JOIN Sensors b {W1} USING (vehID)", "ON A.id = B.id", None),
        (
            f"SELECT vehID FROM Sensors {W1} INTERSECT SELECT Id FROM Pulse {W1}",
            "left EXCEPT (left EXCEPT right)",
            f"SELECT vehID FROM Sensors {W1} EXCEPT (SELECT vehID FROM Sensors {W1} EXCEPT SELECT Id FROM Pulse {W1})",
        ),
        (
            f"SELECT vehID FROM Sensors {W1} UNION SELECT Id FROM Pulse {W1}",
            "SELECT DISTINCT * FROM (left UNION ALL right)",
            f"SELECT DISTINCT * FROM (SELECT vehID FROM Sensors {W1} UNION ALL SELECT Id FROM Pulse {W1}) AS both",
        ),
        ("SELECT vehID FROM Sensors LIMIT 10", "where they are read", None),
        ("SELECT vehID FROM Sensors WHERE speed > (SELECT AVG(speed) FROM Sensors)", "subquery in FROM", None),
        ("SELECT SUM((SELECT MAX(Id) FROM Pulse)) AS x FROM Sensors [RANGE 1 minute]", "subquery in FROM", None),
        (
            "SELECT COUNT(*) AS n FROM Sensors [RANGE 1 minute] GROUP BY (SELECT MAX(Id) FROM Pulse)",
            "subquery in FROM",
            None,
        ),
        ("SELECT a.vehID FROM Sensors a JOIN Pulse b ON b.Id = (SELECT MAX(Id) FROM Pulse)", "subquery in FROM", None),
        ("SELECT vehID FROM Sensors WHERE SUM(speed) OVER (PARTITION BY vehID) > 1", "bracket at the stream", None),
        (f"SELECT MAX_BY(vehID) AS v FROM Sensors {W1}", "MAX_BY(", f"SELECT MAX_BY(vehID, ts) AS v FROM Sensors {W1}"),
        (f"SELECT MIN_BY(vehID, ts, 2) AS v FROM Sensors {W1}", "one row", None),
        (f"SELECT MAX_BY(DISTINCT vehID, ts) AS v FROM Sensors {W1}", "leave it out", None),
    ],
)
def test_hints_say_what_helps(query: str, said: str, followed: str | None):
    error = refused(query)
    assert error.code in ("SW-140", "SW-141")
    assert said in error.problem.hint
    assert followed is None or bound(followed)


def test_windows_of_different_range_may_be_united_but_not_compared():
    union = "SELECT vehID FROM Sensors [RANGE 1 minute] UNION ALL SELECT Id FROM Pulse [RANGE 5 minutes SLIDE 1 minute]"
    assert isinstance(bound(union), Union)
    assert refused(union.replace("UNION ALL", "EXCEPT")).code == "SW-227"


def test_lengths_are_counted_in_ticks():
    window = next(node for node in walk(bound(f"SELECT vehID FROM Sensors {W}")) if isinstance(node, Window))
    assert window.range == Length.of(300, "seconds")
