"""Which views are kept, and who reads them: decided without Spark."""

import pytest

from slackwater.algebra.nodes import Plan, Scan, walk
from slackwater.app.views import share_views
from slackwater.lang import parse_script
from slackwater.spark.run.views.plans import is_log
from slackwater.spark.run.views.sharing import Sharing
from slackwater.testing.catalog import CATALOG

SUMS = "CREATE VIEW Sums AS SELECT id, COUNT(*) AS n FROM Readings [RANGE 4 seconds SLIDE 2 seconds] GROUP BY id;"
WIDER = "SELECT id, MAX(n) AS most FROM Sums [RANGE 8 seconds SLIDE 4 seconds] GROUP BY id"
EACH = "SELECT * FROM Sums"


def sharing(text: str, *queries: str, keep: bool = False) -> Sharing:
    sinks = [
        f"CREATE SINK q{number} USING console; INSERT INTO q{number} {each};" for number, each in enumerate(queries)
    ]
    return share_views(parse_script(text + "\n".join(sinks), catalog=CATALOG), keep=keep)[0]


def streams(plan: Plan) -> set[str]:
    return {node.stream for node in walk(plan) if isinstance(node, Scan)}


def test_a_view_with_one_reader_is_computed_in_it_unless_it_is_to_be_kept():
    alone = sharing(SUMS, WIDER)
    assert not alone.kept
    assert streams(alone.pipelines[0].plan) == {"Readings"}
    assert alone.notes["q0"] == ("computes view Sums itself: nobody else reads it",)
    asked = sharing(SUMS, WIDER, keep=True)
    assert [each.name for each in asked.kept] == ["view Sums"]
    assert streams(asked.pipelines[0].plan) == {"view.Sums"}


def test_a_view_without_readers_can_be_kept():
    assert [each.name for each in sharing(SUMS, keep=True).kept] == ["view Sums"]


def test_two_readers_share_a_view_and_a_query_that_it_answers_counts_as_one():
    same = "SELECT id, COUNT(*) AS n FROM Readings [RANGE 4 seconds SLIDE 6 seconds] GROUP BY id"
    found = sharing(SUMS, WIDER, same)
    assert [streams(each.plan) for each in found.pipelines] == [{"view.Sums"}] * 2
    assert streams(found.kept[0].run) == {"Readings"}


def test_a_view_over_a_view_reads_it_and_waits_for_the_windows_of_all():
    tops = "CREATE VIEW Tops AS SELECT MAX(n) AS top FROM Sums [RANGE 20 seconds SLIDE 4 seconds];"
    found = sharing(SUMS + tops, "SELECT top FROM Tops WHERE top > 1", "SELECT MIN(top) AS m FROM Tops", EACH)
    assert [each.name for each in found.kept] == ["view Sums", "view Tops"]
    assert streams(found.kept[1].run) == {"view.Sums"}
    assert [streams(each.plan) for each in found.pipelines] == [{"view.Tops"}] * 2 + [{"view.Sums"}]
    assert len(found.kept[0].readers) == 4


@pytest.mark.parametrize(
    ("view", "query", "why"),
    [
        (SUMS, "SELECT id, n [FREQUENCY 3 TUPLES] FROM Sums", "order of rows that the view yields"),
        (SUMS, "SELECT id, LAST(n) AS l FROM Sums [RANGE 4 seconds SLIDE 4 seconds] GROUP BY id", "order of rows"),
        (SUMS, "SELECT id, COUNT(*) AS m FROM Sums [RANGE 9 seconds] GROUP BY id EMIT CHANGES", "EMIT CHANGES"),
        (SUMS.replace("AS n FROM", "AS n, row_time FROM"), EACH, "named row_time"),
    ],
)
def test_what_a_log_cannot_answer_is_computed(view, query, why):
    (note,) = sharing(view, query, keep=True).notes["q0"]
    assert note.startswith("computes view Sums itself: ")
    assert why in note


def test_a_pipeline_whose_late_rows_are_read_keeps_its_stream():
    found = sharing(SUMS, WIDER, EACH, "SELECT id FROM q0$late")
    assert [is_log(*streams(each.plan)) for each in found.pipelines] == [False, False]
    assert "late or rejected rows" in found.notes["q0"][0]
