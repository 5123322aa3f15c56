"""Every query of the papers, as printed, against its plan worked out by hand."""

from pathlib import Path

import pytest

from slackwater.algebra.checks import check
from slackwater.algebra.lengths import ONE_TUPLE, Length
from slackwater.algebra.nodes import (
    Aggregate,
    Disorder,
    Distinct,
    Emit,
    Frequency,
    Item,
    Join,
    Minus,
    Mode,
    Plan,
    Policy,
    Project,
    Scan,
    Select,
    Subquery,
    Window,
    walk,
)
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import Expr, Field
from slackwater.errors import QueryError
from slackwater.lang import bind_query, parse_script, print_query

PAPERS = Path(__file__).parents[2] / "examples" / "papers"
SCRIPTS = {path.stem: parse_script(path.read_text(), path.name) for path in sorted(PAPERS.glob("*.sql"))}
PLANS = {
    f"{paper} {pipeline.name}": (script.catalog, pipeline.plan)
    for paper, script in SCRIPTS.items()
    for pipeline in script.pipelines
}


def fields(listed: str) -> tuple[Field, ...]:
    return tuple(Field(*each.split()) for each in listed.split(", "))


def item(name: str, kind: str, sql: str = "") -> Item:
    return Item(name, Expr(sql or name, kind))


def scanned(stream: str, columns: str, time: str, source: str, alias: str = "", **policy: object) -> Disorder:
    scan = Scan(stream, alias or stream, fields(columns), time, "received", source)
    return Disorder(scan, Policy(**policy))  # type: ignore[arg-type]


def seconds(number: int) -> Length:
    return Length.of(number, "seconds")


def tuples(number: int) -> Length:
    return Length.of(number, "tuples")


VEHICLES = "vehID int, segment int, speed double, {} timestamp, received timestamp"
PULSES = "Id int, Timestamp timestamp, received timestamp"
BODIES = "Id int, Species string, BTemp double, BloodP int, Timestamp timestamp, received timestamp"
EVERY_BODY = tuple(item(each.name, each.type) for each in fields(BODIES))


def traffic(**policy: object) -> Disorder:
    return scanned("Traffic", VEHICLES.format("timestamp"), "timestamp", "vehID", **policy)


def readings(**policy: object) -> Disorder:
    columns = "sensor int, value double, timestamp timestamp, received timestamp"
    return scanned("Sensors", columns, "timestamp", "sensor", **policy)


def vehicles(alias: str = "", **policy: object) -> Disorder:
    return scanned("Sensors", VEHICLES.format("ts"), "ts", "vehID", alias, **policy)


def pulses() -> Disorder:
    return scanned("Pulse", PULSES, "Timestamp", "Id", "P")


def bodies() -> Disorder:
    return scanned("BodyCondition", BODIES, "Timestamp", "Id", "B")


def maximum(child: Plan, column: str) -> Plan:
    top = item(f"max_{column}", "double", f"MAX({column})")
    return Project(Aggregate(child, (), (top,)), (item(f"max_{column}", "double"),))


def horses(child: Plan) -> Plan:
    return Select(child, Expr("Species = 'horse'", "boolean"))


def pulse_rate(name: str) -> Plan:
    counted = Aggregate(Window(pulses(), seconds(60)), (item("Id", "int"),), (item("count", "bigint", "COUNT(*)"),))
    picked = Frequency(counted, tuples(10), ("Id",))
    return Project(picked, (item("Id", "int"), item(name, "bigint", "count")))


def win(**policy: object) -> Plan:
    window = Window(vehicles(**policy), seconds(300), seconds(30))
    return Project(window, (item("vehID", "int"), item("speed", "double")))


def win_q1() -> Plan:
    groups = Aggregate(
        Window(vehicles(), seconds(300), seconds(30)),
        (item("vehID", "int"),),
        (item("speed", "double", "LAST(speed)"), item("avg_speed", "double", "AVG(speed)")),
    )
    fast = Select(groups, Expr("avg_speed > 80", "boolean"))
    return Project(fast, (item("vehID", "int"), item("speed", "double")))


def toll() -> Plan:
    averages = Aggregate(
        Window(vehicles(), seconds(300), seconds(30)),
        (item("segment", "int"),),
        (item("avg_speed", "double", "AVG(speed)"),),
    )
    slow = Select(averages, Expr("avg_speed < 40", "boolean"))
    congested = Subquery("Congested", Project(slow, (item("segment", "int"), item("average", "double", "avg_speed"))))
    active = Window(vehicles("Active"), seconds(30), seconds(30))
    paying = Select(Join(active, congested), Expr("Active.segment = Congested.segment", "boolean"))
    return Distinct(Project(paying, (item("vehID", "int"), item("segment", "int", "Active.segment"))))


def csql_q4() -> Plan:
    hour = Window(Subquery("PR", pulse_rate("Rate")), seconds(3600))
    averages = Aggregate(hour, (item("Id", "int"),), (item("avg_rate", "double", "AVG(Rate)"),))
    return Project(Frequency(averages, seconds(60), ("Id",)), (item("Id", "int"), item("avg_rate", "double")))


def generated(number: int, alias: str = "") -> Disorder:
    return scanned(f"Gen{number}", VEHICLES.format("timestamp"), "timestamp", "vehID", alias)


def chained() -> Plan:
    fast = Select(Window(generated(1), seconds(60)), Expr("speed > 20", "boolean"))
    sums = (item("sum_speed", "double", "SUM(speed)"), item("count", "bigint", "COUNT(*)"))
    grouped = Aggregate(fast, (item("segment", "int"),), sums)
    return Project(grouped, (item("segment", "int"), item("average", "double", "sum_speed / count")))


def joined() -> Plan:
    sides = Window(generated(1, "A"), seconds(10)), Window(generated(2, "B"), seconds(20))
    pairs = Join(*sides, Expr("A.vehID = B.vehID", "boolean"))
    return Project(
        pairs,
        (item("vehID", "int", "A.vehID"), item("before", "double", "A.speed"), item("after", "double", "B.speed")),
    )


def segments(number: int, range_: int) -> Plan:
    return Project(Window(generated(number), seconds(range_)), (item("segment", "int"),))


def summed() -> Plan:
    total = Aggregate(Window(generated(1), seconds(10)), (), (item("sum_speed", "double", "SUM(speed)"),))
    return Project(total, (item("total", "double", "sum_speed"),))


EXPECTED: dict[str, Plan] = {
    "adc q1": Emit(maximum(Window(traffic(slack=10), seconds(300), seconds(60)), "speed")),
    "adc q2": Emit(maximum(Window(traffic(dratio=0.05, slack=20), seconds(300), seconds(60)), "speed")),
    "adc-j q1": Emit(maximum(Window(readings(), seconds(30)), "value")),
    "adc-j q2": Emit(maximum(Window(readings(dratio=0.01), seconds(30)), "value")),
    "adc-j q3": Emit(maximum(Window(readings(dratio=0.01), seconds(300)), "value")),
    "win q1": Emit(win_q1()),
    "win q2": Emit(win(slack=10)),
    "win q3": Emit(win(dratio=0.01)),
    "win q4": Emit(win(dratio=0.01, bsize=100)),
    "win toll": Emit(toll(), sync=True),
    "csql q1a": Emit(Project(horses(Frequency(Window(bodies(), seconds(60)), tuples(100))), EVERY_BODY)),
    "csql q1b": Emit(Project(Frequency(horses(Window(bodies(), seconds(60))), tuples(100)), EVERY_BODY)),
    "csql q1c": Emit(Project(Frequency(horses(Window(bodies(), seconds(60))), tuples(100), ("Id",)), EVERY_BODY)),
    "csql q2": Emit(Project(Frequency(Frequency(bodies(), tuples(100), ("Id",)), seconds(60), ("Id",)), EVERY_BODY)),
    "csql q3": Emit(pulse_rate("count")),
    "csql q4": Emit(csql_q4()),
    "apas chained": Emit(chained(), Mode.CHANGES),
    "apas joined": Emit(joined(), Mode.CHANGES),
    "apas summed": Emit(summed(), Mode.CHANGES),
    "apas different": Emit(Distinct(segments(1, 10)), Mode.CHANGES),
    "apas missing": Emit(Minus(segments(1, 10), segments(2, 20)), Mode.CHANGES),
}


def test_every_query_has_a_plan_worked_out_by_hand():
    assert set(PLANS) == set(EXPECTED)


@pytest.mark.parametrize("query", EXPECTED)
def test_plan(query: str):
    assert PLANS[query][1] == EXPECTED[query]


@pytest.mark.parametrize("query", EXPECTED)
def test_plan_passes_the_checks_that_hold_however_it_was_written(query: str):
    assert check(PLANS[query][1]) == PLANS[query][1]


@pytest.mark.parametrize("query", EXPECTED)
def test_printed_and_read_again_it_is_the_same_plan(query: str):
    catalog, plan = PLANS[query]
    assert bind_query(print_query(plan), catalog) == plan


def test_a_window_of_csql_is_evaluated_at_every_tuple():
    windows = [node for node in walk(PLANS["csql q4"][1]) if isinstance(node, Window)]
    assert [(window.range, window.every) for window in windows] == [
        (seconds(3600), ONE_TUPLE),
        (seconds(60), ONE_TUPLE),
    ]


def test_late_rows_of_a_pipeline_are_a_stream():
    text = (PAPERS / "adc.sql").read_text()
    more = "CREATE SINK late USING console; INSERT INTO late SELECT *, late_by FROM q1$late WHERE late_by > 0;"
    with pytest.raises(QueryError, match="two columns are named 'late_by'"):
        parse_script(text + more)
    script = parse_script(text + more.replace(", late_by", ""))
    assert schema_of(script.pipelines[-1].plan).names[-3:] == ("late_by", "punctuation", "windows_missed")
