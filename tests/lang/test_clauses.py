"""Brackets: clauses in any order, any case, with or without commas, wherever a bracket may stand."""
# ruff: noqa: E501, S608 (queries are kept on one line, and none reaches a database)

from itertools import permutations

import pytest
from tests.lang.streams import bound, refused, underlined

from slackwater.algebra.lengths import Length
from slackwater.algebra.nodes import Disorder, Frequency, Plan, Policy, Window, walk

CLAUSES = (
    "RANGE 5 minutes",
    "SLIDE 1 minute",
    "WATTR ts",
    "DRATIO 2.5% USING two-max WITHIN 45 seconds",
    "SLACK 20",
    "BSIZE 100",
    "IDLE 30 seconds",
    "SKEW 1 hour",
)
POLICY = Policy(0.025, 20, 100, "two-max", 30_000_000, 3_600_000_000, 45_000_000)


def first(plan: Plan, kind: type) -> Plan:
    return next(node for node in walk(plan) if isinstance(node, kind))


def test_every_clause_says_what_it_means():
    plan = bound(f"SELECT vehID FROM Sensors [{' '.join(CLAUSES)}]")
    window = first(plan, Window)
    assert (window.range, window.every) == (Length.of(5, "minutes"), Length.of(1, "minute"))
    assert first(plan, Disorder).policy == POLICY


@pytest.mark.parametrize("order", list(permutations(CLAUSES[:4])), ids=lambda order: order[0][:3] + order[1][:3])
def test_clauses_come_in_any_order(order: tuple[str, ...]):
    assert bound(f"SELECT vehID FROM Sensors [{' '.join(order)}]") == bound(
        f"SELECT vehID FROM Sensors [{', '.join(CLAUSES[:4])}]"
    )


@pytest.mark.parametrize("between", [" ", ", ", " ,", ",\n", "\n\t", " /* and */ ", ", -- next\n"])
def test_commas_and_blanks_and_comments_make_no_difference(between: str):
    assert bound(f"SELECT vehID FROM Sensors [{between.join(CLAUSES)}]") == bound(
        f"SELECT vehID FROM Sensors [{' '.join(CLAUSES)}]"
    )


@pytest.mark.parametrize("case", [str.lower, str.upper, str.title])
def test_case_makes_no_difference(case):
    assert bound(f"SELECT vehID FROM Sensors [{case(' '.join(CLAUSES))}]") == bound(
        f"SELECT vehID FROM Sensors [{' '.join(CLAUSES)}]"
    )


@pytest.mark.parametrize(
    "source", ["Sensors S [RANGE 1 minute]", "Sensors [RANGE 1 minute] S", "Sensors AS S [RANGE 1 minute]"]
)
def test_the_bracket_stands_before_or_after_the_alias(source: str):
    assert bound(f"SELECT S.vehID FROM {source}") == bound("SELECT S.vehID FROM Sensors [RANGE 1 minute] AS S")


@pytest.mark.parametrize(
    ("unit", "ticks"),
    [("millisecond", 1_000), ("SECONDS", 10**6), ("Minute", 6 * 10**7), ("hours", 36 * 10**8), ("day", 864 * 10**8)],
)
def test_units_of_time(unit: str, ticks: int):
    assert first(bound(f"SELECT vehID FROM Sensors [RANGE 2 {unit}]"), Window).range.amount == 2 * ticks


@pytest.mark.parametrize("unit", ["tuple", "TUPLES", "Row", "rows"])
def test_units_of_rows(unit: str):
    assert first(bound(f"SELECT vehID FROM Sensors [RANGE 7 {unit}]"), Window).range == Length.of(7, "tuples")


@pytest.mark.parametrize(
    ("written", "ratio"),
    [("1%", 0.01), ("0.1%", 0.001), ("99.5%", 0.995), (".5 %", 0.005), ("12.50%", 0.125)],
)
def test_ratios(written: str, ratio: float):
    assert first(bound(f"SELECT vehID FROM Sensors [DRATIO {written}]"), Disorder).policy.dratio == ratio


def test_a_slide_in_tuples_is_a_frequency():
    assert bound("SELECT vehID FROM Sensors [RANGE 100 tuples SLIDE 10 tuples]") == bound(
        "SELECT vehID FROM Sensors [RANGE 100 tuples FREQUENCY 10 tuples]"
    )


def test_a_partitioned_range_has_windows_of_its_own():
    """algebra.md: the last ten rows of that Id; with a jump, the frequency parts the instants."""
    every = bound("SELECT vehID FROM Sensors [RANGE 10 TUPLES, FREQUENCY 1 TUPLE PARTITIONED BY vehID, segment]")
    assert first(every, Window).by == ("vehID", "segment")
    jump = first(
        bound("SELECT vehID FROM Sensors [RANGE 10 TUPLES, FREQUENCY 5 TUPLES PARTITIONED BY vehID]"), Frequency
    )
    assert (jump.by, jump.child.by) == (("vehID",), ())


def test_a_column_may_be_named_like_a_clause():
    frequency = first(bound("SELECT s FROM (SELECT segment AS s, vehID AS slack FROM Sensors) S "
                            "[RANGE 5 rows, FREQUENCY 2 rows PARTITIONED BY slack, s]"), Frequency)  # fmt: skip
    assert frequency.by == ("slack", "s")


@pytest.mark.parametrize(
    "expression", ["tags[0]", "tags[segment]", "tags[vehID - 1]", "split(place.road, ',')[1]", "array(1, 2)[0]"]
)
def test_subscripts_are_no_brackets(expression: str):
    assert bound(f"SELECT {expression} AS one FROM Sensors [RANGE 1 minute]").items[0].name == "one"


def test_a_subscript_by_a_column_that_is_named_like_a_clause():
    inner = "(SELECT tags, segment AS frequency, vehID AS range FROM Sensors) S"
    items = bound(f"SELECT tags[frequency] AS a, tags[range - 1] AS b, tags[S.range] AS c FROM {inner}").items
    assert [item.expr.sql for item in items] == ["tags[frequency]", "tags[`range` - 1]", "tags[`range`]"]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT COUNT(*) [FREQUENCY 10 tuples PARTITIONED BY segment] AS n, segment FROM Sensors [RANGE 1 minute] GROUP BY segment",
        "SELECT COUNT(*) AS n [FREQUENCY 10 tuples PARTITIONED BY segment], segment FROM Sensors [RANGE 1 minute] GROUP BY segment",
        "SELECT COUNT(*) AS n, segment [FREQUENCY 10 tuples PARTITIONED BY Sensors.segment] FROM Sensors [RANGE 1 minute] GROUP BY segment",
    ],
)  # fmt: skip
def test_the_frequency_of_the_result_stands_at_any_item(query: str):
    frequency = first(bound(query), Frequency)
    assert (frequency.every, frequency.by) == (Length.of(10, "tuples"), ("segment",))


@pytest.mark.parametrize("item", ["COUNT(*)", "speed", "speed + 1", "*", "Sensors.*", "'x'", "COUNT(*) AS n"])
def test_the_frequency_of_the_result_stands_at_any_kind_of_item(item: str):
    plan = bound(f"SELECT {item} [FREQUENCY 10 tuples] FROM Sensors [RANGE 1 minute]")
    assert first(plan, Frequency).every == Length.of(10, "tuples")


@pytest.mark.parametrize(
    ("bracket", "code", "at"),
    [
        ("[RANGE 100 tuples SLIDE 5 seconds]", "SW-211", "SLIDE 5 seconds"),
        ("[RANGE 5 seconds SLIDE 100 tuples]", "SW-211", "SLIDE 100 tuples"),
        ("[SLIDE 5 seconds]", "SW-212", "SLIDE 5 seconds"),
        ("[RANGE 1 minute SLIDE 1 minute FREQUENCY 5 tuples]", "SW-213", "SLIDE 1 minute"),
        ("[DRATIO 101%]", "SW-113", "DRATIO 101%"),
        ("[DRATIO 100%]", "SW-113", "DRATIO 100%"),
        ("[DRATIO 0.0%]", "SW-113", "DRATIO 0.0%"),
        ("[DRATIO -1%]", "SW-113", "DRATIO -1%"),
        ("[DRATIO 0.01]", "SW-113", "DRATIO 0.01"),
        ("[DRATIO 1% USING budgt]", "SW-127", "budgt"),
        ("[WATTR speed]", "SW-210", "speed"),
        ("[WATTR tss]", "SW-201", "tss"),
        ("[FREQUENCY 0 tuples]", "SW-111", "0 tuples"),
        ("[RANGE 0 minutes]", "SW-111", "0 minutes"),
        ("[RANGE 5 fortnights]", "SW-110", "5 fortnights"),
        ("[RANGE 5]", "SW-110", "5"),
        ("[RANGE 30s]", "SW-110", "30s"),
        ("[RANGE 5minutes]", "SW-114", "5minutes"),
        ("[RANGE 1.5 minutes]", "SW-114", "1.5"),
        ("[RANGE 99999999999999999999 days]", "SW-114", "99999999999999999999"),
        ("[RANGE 99999999999999999 days]", "SW-111", "99999999999999999 days"),
        ("[SLACK 1.5]", "SW-114", "1.5"),
        ("[SLACK -5]", "SW-114", "-5"),
        ("[BSIZE 0]", "SW-114", "BSIZE 0"),
        ("[IDLE 5 tuples]", "SW-223", "IDLE 5 tuples"),
        ("[DRATIO 1% WITHIN 5 rows]", "SW-223", "DRATIO 1% WITHIN 5 rows"),
        ("[DRATIO 1% WITHIN 0 seconds]", "SW-111", "0 seconds"),
        ("[DRATIO 1% WITHIN 30]", "SW-110", "30"),
        ("[DRATIO 1% WITHIN -3 seconds]", "SW-114", "-3"),
        ("[WITHIN 30 seconds]", "SW-122", "WITHIN"),
        ("[RNAGE 5 minutes]", "SW-122", "RNAGE"),
        ("[SLACK 5 SLACK 6]", "SW-123", "SLACK 6"),
        ("[]", "SW-125", "[]"),
        ("[SLACK 5", "SW-120", "["),
        ("[SLACK 5 GROUP BY vehID", "SW-120", "["),
        ("SLACK 5]", "SW-121", "]"),
        ("SLACK 5", "SW-121", "SLACK"),
        ("[SLACK 5] [BSIZE 6]", "SW-123", "[BSIZE 6]"),
        ("[SLACK 5,, BSIZE 6]", "SW-122", ","),
        ("[FREQUENCY 5 tuples PARTITIONED BY]", "SW-101", "]"),
        ("[FREQUENCY 5 tuples PARTITIONED BY vehicle]", "SW-201", "vehicle"),
    ],
)  # fmt: skip
def test_mistakes_in_a_bracket(bracket: str, code: str, at: str):
    error = refused(f"SELECT vehID FROM Sensors {bracket}")
    assert (error.code, underlined(error)) == (code, at)


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("SELECT vehID [RANGE 5 minutes] FROM Sensors", "SW-124"),
        ("SELECT vehID [FREQUENCY 2 rows], speed [FREQUENCY 3 rows] FROM Sensors", "SW-123"),
        ("SELECT vehID FROM Sensors [SLACK 5] WHERE [SLACK 6] speed > 1", "SW-215"),
        ("SELECT a.vehID FROM Sensors a, Sensors b WHERE [SLACK 6] a.speed > 1", "SW-215"),
        ("SELECT vehID FROM Sensors GROUP BY vehID [FREQUENCY 5 tuples]", "SW-101"),
        ("SELECT vehID FROM (SELECT * FROM Sensors) s [SLACK 10]", "SW-221"),
        ("SELECT vehID FROM (SELECT * FROM Sensors) s [RANGE 1 minute WATTR ts]", "SW-221"),
        ("SELECT Id FROM Rates [DRATIO 1%]", "SW-221"),
    ],
)
def test_brackets_where_none_may_be(query: str, code: str):
    assert refused(query).code == code
