"""Who runs a plan, decided without Spark, with a reason that names the operator."""

import pytest

from slackwater.errors import QueryError
from slackwater.lang import bind_query
from slackwater.rewrite import rewrite
from slackwater.spark.planner.obstacles import obstacles
from slackwater.spark.planner.ways import Host, Way, copies_of, way_of
from slackwater.testing.catalog import CATALOG


def way(text: str) -> Way:
    return way_of(rewrite(bind_query(text, CATALOG)).plan)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT MAX(v) FROM Readings [RANGE 30 seconds]", "Window: it is evaluated every 1 tuple"),
        ("SELECT id FROM Readings [RANGE 10 tuples, FREQUENCY 5 seconds]", "Window: a range of 10 tuples"),
        ("SELECT id FROM Readings [FREQUENCY 5 seconds]", "Frequency: it picks the last row of every 5 seconds"),
        ("SELECT id, row_number FROM Readings", "Project: row_number counts rows"),
        ("SELECT SUM(DISTINCT v) AS s FROM Readings [RANGE 5 seconds SLIDE 5 seconds]", None),
        ("SELECT LAST(v) AS v FROM (SELECT v FROM Readings) AS q [RANGE 2 seconds SLIDE 2 seconds]", "Aggregate: LAST"),
    ],
)
def test_what_spark_has_no_operator_for_is_named(text: str, reason: str | None):
    plan = rewrite(bind_query(text, CATALOG)).plan
    found = [f"{type(node).__name__}: {why}" for node, why in obstacles(plan)]
    assert len(found) == 1
    assert reason is None or found[0].startswith(reason)


def test_neither_spark_nor_the_fused_operator():
    text = "SELECT a.v FROM Readings AS a [RANGE 5 seconds], Events AS b [RANGE 5 seconds] WHERE a.id = b.id"
    with pytest.raises(QueryError) as caught:
        way(text)
    assert caught.value.code == "SW-301"
    assert "Join cannot be run" in str(caught.value)
    assert "nor with the fused operator" in str(caught.value)


SLIDE, CHANGES = "RANGE and SLIDE", "EMIT CHANGES"


@pytest.mark.parametrize(
    ("text", "helps", "followed"),
    [
        (
            "SELECT year(ts) AS y, PERCENTILE(v, 0.5) AS p FROM Readings GROUP BY year(ts) EMIT CHANGES",
            (SLIDE,),
            "SELECT year(ts) AS y, PERCENTILE(v, 0.5) AS p FROM Readings [RANGE 1 hour SLIDE 1 hour] GROUP BY year(ts)",
        ),
        (
            "SELECT MEDIAN(v) AS x FROM Readings [RANGE 5 TUPLES]",
            (SLIDE,),
            "SELECT MEDIAN(v) AS x FROM Readings [RANGE 5 seconds SLIDE 5 seconds]",
        ),
        (
            "SELECT a.v FROM Readings AS a [RANGE 5 TUPLES], Events AS b [RANGE 5 TUPLES] WHERE a.id = b.id",
            (SLIDE, CHANGES),
            "SELECT a.v FROM Readings AS a [RANGE 5 TUPLES], Events AS b WHERE a.id = b.id EMIT CHANGES",
        ),
        ("SELECT PERCENTILE(v, 0.5) AS p FROM Edits EMIT CHANGES", (), None),
        ("SELECT MEDIAN(row_number) AS n FROM Readings [RANGE 5 seconds]", (), None),
    ],
)
def test_a_hint_names_only_what_helps(text: str, helps: tuple[str, ...], followed: str | None):
    with pytest.raises(QueryError, match="SW-301") as caught:
        way(text)
    assert tuple(each for each in (SLIDE, CHANGES) if each in caught.value.problem.hint) == helps
    assert followed is None or way(followed)


@pytest.mark.parametrize(
    ("slide", "call", "host"),
    [
        (30, "MAX(v)", Host.NATIVE),
        (5, "MAX(v)", Host.NATIVE),
        (1, "MAX(v)", Host.FUSED),
        (1, "COLLECT_LIST(v)", Host.NATIVE),
        (1, "MAX(window_end)", Host.NATIVE),
    ],
)
def test_many_extents_per_row_are_put_together_from_panes_where_they_can(slide: int, call: str, host: Host):
    text = f"SELECT id, {call} AS m FROM Readings [RANGE 60 seconds SLIDE {slide} seconds] GROUP BY id"  # noqa: S608
    assert way(text).host is host
    assert str(60 // slide) in way(text).reason


def test_copies_are_counted_by_the_widest_window():
    text = """SELECT a.v
              FROM Readings AS a [RANGE 7 seconds SLIDE 2 seconds], Events AS b [RANGE 2 seconds SLIDE 2 seconds]
              WHERE a.id = b.id"""
    assert copies_of(bind_query(text, CATALOG)) == 4
