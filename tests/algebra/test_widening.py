"""The types of UNION ALL and EXCEPT: what goes together, and where casts stand."""

import pytest
from tests.lang.streams import CATALOG

from slackwater.algebra.bind import bind
from slackwater.algebra.builder import scan
from slackwater.algebra.checks import check
from slackwater.algebra.nodes import Distinct, Minus, Project, Union
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.properties.widening import common_type
from slackwater.errors import QueryError
from slackwater.lang import bind_query
from slackwater.lang.printer import print_query


@pytest.mark.parametrize(
    ("one", "two", "common"),
    [
        *[("int", "int", "int"), ("tinyint", "bigint", "bigint"), ("int", "double", "double")],
        *[("int", "float", "double"), ("float", "decimal(5,2)", "double"), ("bigint", "decimal(9,2)", "decimal(22,2)")],
        *[("decimal(10,2)", "decimal(5,5)", "decimal(13,5)"), ("decimal(38,0)", "decimal(38,10)", "decimal(38,0)")],
        *[("date", "timestamp", "timestamp"), ("timestamp_ntz", "date", "timestamp_ntz"), ("void", "date", "date")],
        *[("string", "int", None), ("timestamp", "bigint", None), ("boolean", "int", None)],
        *[("array<int>", "array<double>", None), ("unknown", "int", "unknown")],
    ],
)
def test_types_that_go_together(one: str, two: str, common: str | None):
    assert common_type(one, two) == common_type(two, one) == common


def types(query: str) -> list[str]:
    return [field.type for field in schema_of(bind_query(query, CATALOG))]


def test_either_side_is_cast():
    int_first = "SELECT vehID AS v FROM Sensors UNION ALL SELECT speed FROM Sensors"
    int_last = "SELECT speed AS v FROM Sensors UNION ALL SELECT vehID FROM Sensors"
    assert types(int_first) == types(int_last) == ["double"]
    union = bind_query(int_first, CATALOG).child
    assert isinstance(union, Union)
    assert [item.expr.sql for item in union.left.items] == ["CAST(vehID AS DOUBLE)"]
    assert [item.expr.sql for item in union.right.items] == ["speed"]
    assert types("SELECT NULL AS v FROM Sensors UNION ALL SELECT ts FROM Sensors") == ["timestamp"]


def test_a_cast_stands_above_what_compares_rows():
    """Two whole numbers can be equal as DOUBLE: they are two rows all the same."""
    distinct = "SELECT DISTINCT vehID FROM Sensors [RANGE 1 minute SLIDE 1 minute]"
    speeds = "SELECT speed FROM Sensors [RANGE 1 minute SLIDE 1 minute]"
    plan = bind_query(f"{distinct} EXCEPT {speeds} UNION ALL {speeds}", CATALOG)
    union = plan.child
    assert isinstance(union, Union) and isinstance(union.left, Minus)
    assert isinstance(union.left.left, Project) and isinstance(union.left.left.child, Distinct)
    other = bind_query(f"{speeds} EXCEPT ({distinct} EXCEPT {distinct})", CATALOG)
    assert isinstance(other.child.right, Project) and isinstance(other.child.right.child, Minus)
    for each in (plan, other):
        assert bind_query(print_query(each), CATALOG) == each


def test_plans_that_were_written_directly_are_cast_too():
    query = scan("Sensors").select(v="vehID").union(scan("Sensors").select(v="speed"))
    plan = check(bind(query.plan, CATALOG.fill))
    assert plan == bind_query("SELECT vehID AS v FROM Sensors UNION ALL SELECT speed AS v FROM Sensors", CATALOG)


def test_text_beside_a_number_is_refused_with_a_cast_that_helps():
    query = "SELECT vehID AS v FROM Sensors UNION ALL SELECT {} FROM Sensors"
    with pytest.raises(QueryError, match=r"SW-226(.|\n)*CAST\(name AS int\)"):
        bind_query(query.format("'7' AS name"), CATALOG)
    assert bind_query(query.format("CAST('7' AS int) AS name"), CATALOG)
