"""Plans that were written directly pass the checks that queries pass."""

from dataclasses import replace

import pytest

from slackwater.algebra.bind import bind
from slackwater.algebra.builder import Query, scan
from slackwater.algebra.catalog import Catalog, StreamDef
from slackwater.algebra.checks import ESTIMATORS, check, pseudo_columns
from slackwater.algebra.nodes import Aggregate, Disorder, Emit, Item, Plan, Policy, Project, Scan, Select
from slackwater.algebra.schema import Expr, Field
from slackwater.errors import QueryError

FIELDS = tuple(Field(*each) for each in [("id", "int"), ("v", "double"), ("s", "string"), ("t", "timestamp")])
CATALOG = Catalog((StreamDef("S", FIELDS, event_time="t"), StreamDef("R", FIELDS, event_time="t")))
ROWS = scan("S").window(range="1 minute")
EXTENTS = scan("S").window(range="5 minutes", slide="1 minute")
SLOWER = scan("S").window(range="5 minutes", slide="5 minutes")


def checked(query: Query) -> Plan:
    return check(bind(query.plan, CATALOG.fill))


def code_of(plan: Plan) -> str:
    with pytest.raises(QueryError) as caught:
        check(plan)
    assert caught.value.problem.hint
    return caught.value.code


@pytest.mark.parametrize(
    "query",
    [
        scan("S").where("v > 1").select("id"),
        ROWS.group("id").avg("v").where("avg > 1"),
        EXTENTS.group("id").aggregate(n="COUNT(*)").select("id", "window_end", "n"),
        EXTENTS.join(scan("R").window(range="1 hour", slide="1 minute"), on="S.id = R.id").select(x="S.v"),
        ROWS.join(scan("R"), on="S.id = R.id").select(x="S.v"),
        EXTENTS.distinct().emit("final", sync=True),
        ROWS.distinct().emit("changes"),
        scan("S").group("id").count().emit("changes"),
        EXTENTS.select("id").minus(EXTENTS.select("id")),
        scan("S").select("id").union(ROWS.select("id")),
    ],
)
def test_sound_plans(query: Query):
    assert isinstance(checked(query), Emit)


@pytest.mark.parametrize(
    ("query", "code"),
    [
        (scan("S").group("id").count(), "SW-230"),
        (ROWS.distinct(), "SW-230"),
        (ROWS.select("id").minus(ROWS.select("id")), "SW-230"),
        (ROWS.join(scan("R")).aggregate(n="COUNT(*)"), "SW-230"),
        (scan("S").group("id").count().alias("q").select("id"), "SW-230"),
        (EXTENTS.join(scan("R")), "SW-227"),
        (EXTENTS.join(scan("R").window(range="1 minute", slide="30 seconds")), "SW-227"),
        (ROWS.join(scan("R").window(range="1 minute", every=5)), "SW-227"),
        (scan("S").window(range="1 minute", every=5).join(scan("R").window(range="1 minute", every=5)), "SW-227"),
        (EXTENTS.select("id").minus(scan("S").select("id")), "SW-227"),
        (EXTENTS.select("id").union(SLOWER.select("id")).minus(EXTENTS.select("id")), "SW-227"),
        (EXTENTS.select("id").union(SLOWER.select("id")).distinct(), "SW-227"),
        (ROWS.join(scan("R", "s")), "SW-205"),
        (scan("S").select("id").union(scan("S").select("id", "v")), "SW-226"),
        (scan("S").select("v").union(scan("S").select("t")), "SW-226"),
        (scan("S").select("id", ID="v"), "SW-206"),
        (scan("S").where("id + 1"), "SW-224"),
        (scan("S").where("MAX(v) > 1"), "SW-220"),
        (scan("S").select(x="MAX(v)"), "SW-220"),
        (ROWS.group(x="MAX(v)").count(), "SW-220"),
        (ROWS.aggregate(x="MAX(AVG(v))"), "SW-220"),
        (ROWS.aggregate(x="MAX(v) + 1"), "SW-222"),
        (ROWS.select("window_end"), "SW-225"),
        (scan("S").join(scan("R")).select("row_number"), "SW-225"),
        (ROWS.emit("final", sync=True), "SW-231"),
        (EXTENTS.emit("changes", sync=True), "SW-231"),
        (scan("S").control(dratio=0.5, estimator="best"), "SW-127"),
        (scan("S").control(slack=-1), "SW-114"),
        (scan("S").control(bsize=0), "SW-114"),
    ],
)
def test_unsound_plans(query: Query, code: str):
    assert code_of(bind(query.plan, CATALOG.fill)) == code


def test_columns_that_do_not_exist():
    plan = bind(scan("S").select("id").plan, CATALOG.fill)
    wrong = Project(plan.child.child, (Item("x", Expr("nothing", "int")),))
    assert code_of(Emit(wrong)) == "SW-201"
    assert code_of(Emit(Select(plan.child.child, Expr("R.v > 1", "boolean")))) == "SW-201"


def test_an_emit_inside_a_plan():
    plan = bind(scan("S").select("id").plan, CATALOG.fill)
    assert code_of(Emit(plan)) == "SW-232"


def test_disorder_control_stands_at_the_entry():
    plan = bind(ROWS.plan, CATALOG.fill)
    assert code_of(Emit(Disorder(plan.child, Policy()))) == "SW-221"


def test_a_ratio_of_a_document_is_a_ratio():
    plan = bind(scan("S").plan, CATALOG.fill)
    assert code_of(replace(plan, child=replace(plan.child, policy=Policy(dratio=1.5)))) == "SW-113"


def test_a_cap_on_the_hold_needs_a_drop_ratio_and_a_time():
    assert checked(scan("S").control(dratio="1%", within="30 seconds"))
    assert code_of(scan("S").control(within="30 seconds").plan) == "SW-244"
    plan = bind(scan("S").plan, CATALOG.fill)
    assert code_of(replace(plan, child=replace(plan.child, policy=Policy(dratio=0.01, within=0)))) == "SW-114"


def test_every_estimator_of_the_language_is_accepted():
    for name in ESTIMATORS:
        assert checked(scan("S").control(dratio="1%", estimator=name))


def test_attributes_of_instants():
    names = {
        "rows": ({"row_time", "row_number"}, ROWS),
        "extents": ({"row_time", "window_start", "window_end"}, EXTENTS),
        "boundaries of a tuple window": ({"row_time", "window_end"}, scan("S").window(range=5, every="1 minute")),
        "a jump": ({"row_time", "row_number"}, scan("S").window(range="1 minute", every=5)),
        "a join": ({"row_time"}, ROWS.join(scan("R"))),
        "a subquery at boundaries": (
            {"row_time", "window_start", "window_end"},
            EXTENTS.group("id").count().alias("q"),
        ),
        "a subquery of two ranges": (
            {"row_time", "window_end"},
            EXTENTS.select("id").union(scan("R").window(range="7 minutes", every="1 minute").select("id")).alias("q"),
        ),
        "a subquery over a tuple window": (
            {"row_time", "window_end"},
            scan("S").window(range=5, every="1 minute").alias("q"),
        ),
        "above an aggregate": ({"row_time", "window_start", "window_end"}, EXTENTS.group("id").count()),
    }
    for what, (expected, query) in names.items():
        assert set(pseudo_columns(bind(query.plan, CATALOG.fill))) == expected, what


def test_extents_of_two_lengths_have_no_common_start():
    ranges = EXTENTS.select("id").union(scan("R").window(range="7 minutes", every="1 minute").select("id"))
    with pytest.raises(QueryError, match=r"SW-225: 'window_start' does not exist(.|\n)*in each subquery"):
        checked(ranges.alias("q").select("window_start"))


@pytest.mark.parametrize(
    "call",
    [
        *("AVG(v)", "COUNT(DISTINCT id)", "percentile_approx(v, 0.5)", "BOOL_OR(v > 1)", "mean(v)", "max_by(id, t)"),
        *("collect_list(v)", "FIRST(v) IGNORE NULLS", "COUNT(*) FILTER (WHERE v > 1)", "try_sum(v)"),
    ],
)
def test_aggregates_of_spark_are_aggregates_here(call: str):
    rows = bind(ROWS.plan, CATALOG.fill).child
    assert check(Emit(Aggregate(rows, (), (Item("x", Expr(call, "double")),))))


def test_a_scan_that_is_not_filled_is_looked_up():
    assert isinstance(CATALOG.fill(Scan("s", "", (), "")), Scan)
