"""Cases that refuted an earlier form of a rule, each made as small as it goes."""

from slackwater.algebra.nodes import Aggregate, Emit, Item, Mode, Project, Select, Window
from slackwater.algebra.schema import Expr
from slackwater.lang import bind_query
from slackwater.rewrite import rewrite
from slackwater.semantics import Feed, interpret
from slackwater.testing.catalog import CATALOG

SECOND = 1_000_000


def rows(*times_and_values: tuple[int, int, object]) -> Feed:
    """Return one batch of rows (t, id, v)."""
    return Feed.of([{"ts": t * SECOND, "id": key, "v": v} for t, key, v in times_and_values])


def fired(plan) -> list[str]:
    return [step.rule for step in rewrite(plan).steps]


def assert_same(plan, feeds) -> None:
    before, after = interpret(plan, feeds, flush=True), interpret(rewrite(plan).plan, feeds, flush=True)
    assert (before.rows, before.changes) == (after.rows, after.changes)
    assert before.rows or before.changes


def test_a_boundary_of_one_side_of_except_is_an_answer_of_the_other():
    """The last row of Pulses is there at every boundary; that of Events at 4 alone is evaluated, if Events has it."""
    plan = bind_query(
        "SELECT id, v FROM Pulses [RANGE 1 TUPLE, FREQUENCY 2 SECONDS] EXCEPT "
        "SELECT id, v FROM Events [RANGE 2 SECONDS SLIDE 2 SECONDS] WHERE v > 5",
        CATALOG,
    )
    feeds = {"Pulses": rows((1, 1, 1)), "Events": rows((3, 1, 1))}
    assert [row.time for row in interpret(plan, feeds, flush=True).rows] == [2 * SECOND - 1, 4 * SECOND - 1]
    assert "push_selects_below_windows" not in fired(plan)
    assert_same(plan, feeds)


def test_the_last_row_of_all_parts_says_how_long_the_last_rows_of_a_part_are_there():
    plan = bind_query(
        "SELECT id, v FROM Pulses [RANGE 1 TUPLE, FREQUENCY 2 SECONDS PARTITIONED BY id] WHERE id = 1", CATALOG
    )
    feeds = {"Pulses": rows((1, 1, 1), (3, 2, 2))}
    assert [row.time for row in interpret(plan, feeds, flush=True).rows] == [2 * SECOND - 1, 4 * SECOND - 1]
    assert "push_selects_below_windows" not in fired(plan)
    assert_same(plan, feeds)


def test_a_changelog_tells_of_values_that_nobody_selects():
    """A row ends at 3, and with it a value of COUNT(*): a new tuple begins, though MAX(id) is the same."""
    window = bind_query("SELECT v FROM Pulses [RANGE 3 SECONDS] EMIT CHANGES", CATALOG).child.child
    assert isinstance(window, Window)
    calls = (Item("top", Expr("MAX(id)", "int")), Item("n", Expr("COUNT(*)", "bigint")))
    plan = Emit(Project(Aggregate(window, (), calls), (Item("top", Expr("top", "int")),)), Mode.CHANGES)
    assert_same(plan, {"Pulses": rows((0, 1, 9), (1, 1, 5))})
    both = rewrite(Emit(plan.child)).plan.child.child
    assert [item.name for item in both.aggregates] == ["top"], "with EMIT FINAL it is left out"


def test_a_row_level_window_sees_the_order_within_a_boundary():
    """Groups come sorted by kind, id; part by part they would come sorted by id."""
    plan = bind_query(
        "SELECT q.id, SUM(q.c) AS s FROM (SELECT id, kind, COUNT(*) AS c FROM Readings "
        "[RANGE 2 SECONDS SLIDE 2 SECONDS] GROUP BY kind, id) q [RANGE 6 SECONDS] GROUP BY q.id",
        CATALOG,
    )
    given = [{"ts": SECOND, "id": 2, "kind": "a"}, {"ts": SECOND, "id": 1, "kind": "b"}]
    assert "share_partitionings" not in fired(plan)
    assert_same(plan, {"Readings": Feed.of(given)})


def test_a_frequency_of_the_result_does_not_slip_onto_the_window():
    """Over a window it would pick instants, and each would emit the whole window."""
    plan = bind_query(
        "SELECT id, v [FREQUENCY 2 TUPLES] FROM Pulses [RANGE 9 SECONDS] WHERE v > 0 EMIT CHANGES", CATALOG
    )
    assert isinstance(plan.child.child.child, Select)
    assert "push_selects_below_windows" not in fired(plan)


def test_a_grouping_by_the_boundary_is_no_column_to_take_apart_by():
    """Only the window above has such a thing as its end; below a subquery nothing is of that name."""
    plan = bind_query(
        "SELECT COUNT(*) AS n, window_end FROM (SELECT id FROM Pulses [RANGE 2 SECONDS SLIDE 2 SECONDS]) q "
        "GROUP BY window_end",
        CATALOG,
    )
    assert_same(plan, {"Pulses": rows((0, 1, 9), (1, 1, 5), (5, 2, 1))})
