"""The formulas of the estimate, against figures worked out by hand."""

import pytest

from slackwater.lang import bind_query, parse_script
from slackwater.rewrite import rewrite
from slackwater.rewrite.cost import Estimate, Workload, estimate
from slackwater.testing.catalog import CATALOG

LOAD = Workload(rate=10, parts=5, share=0.5)
CASES = [
    # One window of 40 rows a second of 10 rows; 7 columns.
    ("SELECT MAX(v) AS m FROM Readings [RANGE 4 SECONDS SLIDE 1 SECOND]", Estimate(4, 0.1, 40, 280)),
    # Every row has a window of its own.
    ("SELECT MAX(v) AS m FROM Readings [RANGE 4 SECONDS]", Estimate(40, 1, 40, 280)),
    # The frequency stands above the window: its windows are still computed.
    ("SELECT MAX(v) AS m FROM Readings [RANGE 4 SECONDS, FREQUENCY 10 TUPLES]", Estimate(4, 1, 40, 280)),
    # The selection looks at every row of every window, and leaves half of each.
    ("SELECT MAX(v) AS m FROM Readings [RANGE 4 SECONDS] WHERE v > 1", Estimate(60, 1, 40, 280)),
    # A sample keeps one row per part.
    ("SELECT v FROM Readings [FREQUENCY 2 SECONDS PARTITIONED BY id]", Estimate(1, 0, 5, 35)),
    # 20 x 10 pairs at a boundary a second, in which 20 rows come.
    (
        "SELECT r.v FROM Readings r [RANGE 2 SECONDS SLIDE 1 SECOND], Events e [RANGE 1 SECOND SLIDE 1 SECOND]",
        Estimate(10, 0.1, 30, 190),
    ),
    # Each new row meets the other window; a fifth of the pairs has the same id.
    (
        "SELECT r.v FROM Readings r [RANGE 2 SECONDS] JOIN Events e [RANGE 1 SECOND] ON r.id = e.id",
        Estimate(3, 1, 30, 190),
    ),
]


@pytest.mark.parametrize(("sql", "expected"), CASES, ids=[sql[:60] for sql, _ in CASES])
def test_the_estimate_of_a_plan(sql: str, expected: Estimate):
    got = estimate(bind_query(sql, CATALOG), LOAD)
    for name in ("evaluated", "windows", "held", "values"):
        assert getattr(got, name) == pytest.approx(getattr(expected, name)), name


def after(sql: str) -> Estimate:
    return estimate(rewrite(bind_query(sql, CATALOG)).plan, LOAD)


def test_a_frequency_in_the_window_computes_a_tenth_of_the_windows():
    assert after("SELECT MAX(v) AS m FROM Readings [RANGE 4 SECONDS, FREQUENCY 10 TUPLES]").windows == pytest.approx(
        0.1
    )


def test_rows_that_no_window_will_hold_are_not_held():
    """CSQL's jump_to: of ten rows the last two."""
    sql = "SELECT MAX(v) AS m FROM Readings [RANGE 2 TUPLES, FREQUENCY 10 TUPLES]"
    assert after(sql).held == pytest.approx(0.4)


def test_panes_evaluate_each_row_once_and_hold_no_rows():
    """10 rows a second, and at each of them 4 panes of 1 row, instead of 40 rows."""
    got = after("SELECT MAX(v) AS m FROM Readings [RANGE 4 SECONDS SLIDE 1 SECOND]")
    assert (got.evaluated, got.held) == (pytest.approx(1.4), pytest.approx(4))


def test_what_a_view_computes_is_not_counted():
    sql = "SELECT MAX(v) AS m FROM Readings [RANGE 4 SECONDS SLIDE 1 SECOND]"
    views = parse_script(f"CREATE VIEW Tops AS {sql}", catalog=CATALOG).views
    assert estimate(rewrite(bind_query(sql, CATALOG), views).plan, LOAD) == Estimate(0, 0, 0, 0)
