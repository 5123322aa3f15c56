"""Queries that random plans seldom have: sampled streams, answers of several streams, marks of an instant."""

from __future__ import annotations

import pytest
from tests.engine.changelog.running import Given, ran, run
from tests.engine.changelog.test_laws import check_same, given_by, told
from tests.engine.changelog.tuples import TUPLES
from tests.law_cases import law_cases
from tests.semantics.endings import ended

from slackwater.engine.changelog.kernel import ChangelogKernel
from slackwater.engine.changelog.partitioning import partitioning
from slackwater.engine.columns.arrays import EARLIEST, LATEST
from slackwater.errors import QueryError
from slackwater.lang import bind_query
from slackwater.semantics import Feed, FeedBatch, interpret
from slackwater.spark.planner.fused.changelog import changes_of
from slackwater.testing.catalog import CATALOG
from slackwater.testing.choices import Seeded
from slackwater.testing.streams import make_feeds

pytestmark = pytest.mark.long

SECOND = 1_000_000
STREAMS = ("Readings", "Pulses", "Edits", "Events")
QUERIES = {
    "sampled": "SELECT id, v FROM Readings [FREQUENCY 3 seconds]",
    "sampled per key, grouped": """SELECT id, COUNT(*) AS n FROM Readings [FREQUENCY 4 seconds PARTITIONED BY id]
        GROUP BY id""",
    "sampled by two clocks": """SELECT DISTINCT id FROM Readings [FREQUENCY 3 seconds]
        EXCEPT SELECT id FROM Pulses [FREQUENCY 5 seconds]""",
    "sampled beside a window": """SELECT r.id, p.v FROM Readings AS r [FREQUENCY 4 seconds],
        Pulses AS p WHERE r.id = p.id""",
    "sampled beside a changelog": """SELECT id FROM Edits EXCEPT SELECT id FROM Pulses [FREQUENCY 4 seconds]""",
    "sampled in a subquery": """SELECT COUNT(*) AS n FROM (SELECT id FROM Readings [FREQUENCY 3 seconds]) AS q
        [RANGE 6 seconds]""",
    "slides apart": """SELECT id, COUNT(*) AS n FROM Readings [RANGE 6 seconds SLIDE 3 seconds] GROUP BY id
        UNION ALL SELECT id, COUNT(*) AS n FROM Pulses [RANGE 4 seconds SLIDE 2 seconds] GROUP BY id""",
    "a slide and rows": """SELECT id FROM Readings [RANGE 6 seconds SLIDE 3 seconds]
        UNION ALL SELECT id FROM Pulses [RANGE 5 seconds]""",
    "extents together in a subquery": """SELECT COUNT(*) AS n FROM (SELECT id FROM Readings
        [RANGE 6 seconds SLIDE 3 seconds] UNION ALL SELECT id FROM Pulses [RANGE 4 seconds SLIDE 3 seconds]) AS q""",
    "pairs as a stream": """SELECT id, COUNT(*) AS n FROM (SELECT r.id, p.v FROM Readings AS r [RANGE 6 seconds],
        Pulses AS p [RANGE 3 seconds] WHERE r.id = p.id) AS q [RANGE 4 seconds] GROUP BY id""",
    "two streams as one": """SELECT id, COUNT(*) AS n FROM (SELECT id FROM Readings WHERE v > 0
        UNION ALL SELECT id FROM Pulses [RANGE 5 seconds]) AS q [RANGE 4 seconds] GROUP BY id""",
    "pairs of extents as a stream": """SELECT COUNT(*) AS n FROM (SELECT r.id, COUNT(*) AS m
        FROM Readings AS r [RANGE 6 seconds SLIDE 3 seconds], Pulses AS p [RANGE 3 seconds SLIDE 3 seconds]
        WHERE r.id = p.id GROUP BY r.id) AS q [RANGE 4 seconds]""",
    "difference of extents as a stream": """SELECT id, COUNT(*) AS m FROM (SELECT id
        FROM Readings [RANGE 6 seconds SLIDE 3 seconds]
        EXCEPT SELECT id FROM Pulses [RANGE 3 seconds SLIDE 3 seconds]) AS q GROUP BY id""",
    "slides apart, read at the boundaries of one": """SELECT id, COUNT(*) AS n FROM (SELECT id, v
        FROM Readings [RANGE 6 seconds SLIDE 3 seconds]
        UNION ALL SELECT id, v FROM Pulses [RANGE 4 seconds SLIDE 2 seconds]) AS q WHERE v > 1 GROUP BY id""",
    "slides apart, less extents": """SELECT id FROM (SELECT id FROM Readings [RANGE 6 seconds SLIDE 3 seconds]
        UNION ALL SELECT id FROM Readings [RANGE 4 seconds]) AS q EXCEPT SELECT id FROM Pulses [RANGE 3 seconds
        SLIDE 3 seconds]""",
    "slides apart as a stream": """SELECT id, COUNT(*) AS n FROM (SELECT id FROM (SELECT id
        FROM Readings [RANGE 6 seconds SLIDE 3 seconds] UNION ALL SELECT id FROM Pulses [RANGE 4 seconds
        SLIDE 2 seconds]) AS p) AS q [RANGE 4 seconds] GROUP BY id""",
    "rows of two streams counted": """SELECT id, v FROM (SELECT id, v FROM Readings WHERE v > 0
        UNION ALL SELECT id, v FROM Events) AS q [RANGE 3 TUPLES]""",
    "rows of two streams, every second of a key": """SELECT id, SUM(v) AS total FROM (SELECT id, v FROM Pulses
        UNION ALL SELECT id, v FROM Readings) AS q [RANGE 3 TUPLES, FREQUENCY 2 TUPLES PARTITIONED BY id]
        GROUP BY id""",
    "pairs counted": """SELECT id, v FROM (SELECT r.id, e.v FROM Readings AS r [RANGE 6 seconds],
        Events AS e [RANGE 3 seconds], Pulses AS p [RANGE 4 seconds] WHERE r.id = e.id) AS q [RANGE 3 TUPLES]""",
    "a stream with itself, counted": """SELECT w, v FROM (SELECT a.v AS w, b.v FROM Pulses AS a [RANGE 4 seconds],
        Pulses AS b [RANGE 2 seconds]) AS q [RANGE 5 TUPLES]""",
    "pairs and rows counted": """SELECT id, v FROM (SELECT id, v FROM (SELECT r.id, e.v FROM Readings AS r
        [RANGE 3 seconds], Events AS e [RANGE 3 seconds]) AS p UNION ALL SELECT id, v FROM Pulses) AS q
        [RANGE 3 seconds, FREQUENCY 3 TUPLES]""",
    "pairs with a union, counted": """SELECT id, w FROM (SELECT u.id, r.v AS w FROM (SELECT id FROM Pulses
        UNION ALL SELECT id FROM Events) AS u [RANGE 3 seconds], Readings AS r [RANGE 3 seconds]) AS q
        [RANGE 3 TUPLES]""",
    "pairs of extents counted": """SELECT id, w FROM (SELECT r.id, p.v AS w
        FROM Readings AS r [RANGE 6 seconds SLIDE 3 seconds], Pulses AS p [RANGE 3 seconds SLIDE 3 seconds]) AS q
        [RANGE 3 TUPLES]""",
    "extents of two slides counted": """SELECT id, v FROM (SELECT id, v FROM Readings [RANGE 6 seconds
        SLIDE 3 seconds] UNION ALL SELECT id, v FROM Pulses [RANGE 4 seconds SLIDE 2 seconds]) AS q [RANGE 3 TUPLES]""",
    "answers at boundaries counted": """SELECT id, n FROM (SELECT id, COUNT(*) AS n FROM Readings [RANGE 6 seconds
        SLIDE 3 seconds] GROUP BY id) AS q [RANGE 3 TUPLES]""",
    "extents of rows of two streams": """SELECT id, COUNT(*) AS n, LAST(v) AS newest, window_start FROM (SELECT id, v
        FROM Readings UNION ALL SELECT id, v FROM Pulses) AS q [RANGE 4 seconds SLIDE 2 seconds] GROUP BY id""",
    "extents of pairs beside others": """SELECT q.id, p.v FROM (SELECT r.id, e.v FROM Readings AS r
        [RANGE 3 seconds], Events AS e [RANGE 3 seconds]) AS q [RANGE 4 seconds SLIDE 2 seconds],
        Pulses AS p [RANGE 2 seconds SLIDE 2 seconds] WHERE q.id = p.id""",
    "extents of extents": """SELECT id, COUNT(*) AS n FROM (SELECT id, v FROM Readings [RANGE 6 seconds
        SLIDE 3 seconds] UNION ALL SELECT id, v FROM Pulses [RANGE 4 seconds SLIDE 2 seconds]) AS q [RANGE 4 seconds
        SLIDE 4 seconds] GROUP BY id""",
    "extents of pairs as a stream": """SELECT COUNT(*) AS n FROM (SELECT id, SUM(v) AS total FROM (SELECT r.id, e.v
        FROM Readings AS r [RANGE 3 seconds], Pulses AS e [RANGE 3 seconds]) AS q [RANGE 4 seconds SLIDE 2 seconds]
        GROUP BY id) AS p [RANGE 3 seconds]""",
    "every third row of two streams": """SELECT id, v FROM (SELECT id, v FROM Readings
        UNION ALL SELECT id, v FROM Events) AS q [FREQUENCY 3 TUPLES]""",
    "sampled, of two streams": """SELECT id, v FROM (SELECT id, v FROM Readings UNION ALL SELECT id, v FROM Events)
        AS q [FREQUENCY 3 seconds]""",
    "sampled pairs per key": """SELECT id, COUNT(*) AS n FROM (SELECT r.id, p.v FROM Readings AS r [RANGE 6 seconds],
        Pulses AS p [RANGE 3 seconds]) AS q [FREQUENCY 2 seconds PARTITIONED BY id] GROUP BY id""",
    "sampled, of two streams, beside a changelog": """SELECT id FROM Edits EXCEPT SELECT id FROM (SELECT id
        FROM Readings UNION ALL SELECT id FROM Pulses) AS q [FREQUENCY 3 seconds]""",
    "sampled twice by two clocks": """SELECT p.id, e.v FROM (SELECT id FROM (SELECT id FROM Readings UNION ALL
        SELECT id FROM Pulses) AS q [FREQUENCY 2 seconds]) AS p, (SELECT v FROM (SELECT v FROM Events UNION ALL
        SELECT v FROM Pulses) AS q [FREQUENCY 3 seconds]) AS e""",
    "sampled, then read at boundaries": """SELECT COUNT(*) AS n FROM (SELECT id FROM (SELECT id FROM Readings
        UNION ALL SELECT id FROM Pulses) AS q [FREQUENCY 2 seconds]) AS p [RANGE 6 seconds SLIDE 3 seconds]""",
    "groups of two streams counted": """SELECT id, n FROM (SELECT p.id, COUNT(*) AS n FROM Readings AS r
        [RANGE 6 seconds SLIDE 3 seconds], Pulses AS p [RANGE 3 seconds SLIDE 3 seconds] GROUP BY p.id) AS q
        [RANGE 3 TUPLES]""",
    "groups of two streams, every second": """SELECT n, top FROM (SELECT COUNT(*) AS n, MAX(r.x) AS top FROM Readings
        AS r [RANGE 6 seconds SLIDE 3 seconds], Pulses AS p [RANGE 3 seconds SLIDE 3 seconds] GROUP BY r.kind
        HAVING COUNT(*) > 1) AS q [RANGE 3 TUPLES, FREQUENCY 2 TUPLES]""",
    "different pairs of extents counted": """SELECT id, x FROM (SELECT DISTINCT r.x, p.id FROM Readings AS r
        [RANGE 6 seconds SLIDE 3 seconds], Pulses AS p [RANGE 3 seconds SLIDE 3 seconds]) AS q [RANGE 3 TUPLES]""",
    "sampled difference of extents": """SELECT id, kind FROM (SELECT id, kind FROM Readings [RANGE 6 seconds
        SLIDE 3 seconds] EXCEPT SELECT id, kind FROM Events [RANGE 3 seconds SLIDE 3 seconds]) AS q
        [FREQUENCY 4 seconds]""",
    "extents of a difference of extents": """SELECT id, COUNT(*) AS n, LAST(kind) AS k FROM (SELECT id, kind
        FROM Readings [RANGE 6 seconds SLIDE 3 seconds] EXCEPT SELECT id, kind FROM Events [RANGE 3 seconds
        SLIDE 3 seconds]) AS q [RANGE 8 seconds SLIDE 2 seconds] GROUP BY id""",
    "groups and rows counted": """SELECT id, n FROM (SELECT p.id, COUNT(*) AS n FROM Readings AS r [RANGE 6 seconds
        SLIDE 3 seconds], Pulses AS p [RANGE 3 seconds SLIDE 3 seconds] GROUP BY p.id UNION ALL SELECT id, v
        FROM Events) AS q [RANGE 3 TUPLES]""",
    "groups with extents counted": """SELECT a, b FROM (SELECT q.n AS a, e.id AS b FROM (SELECT p.id, COUNT(*) AS n
        FROM Readings AS r [RANGE 6 seconds SLIDE 3 seconds], Pulses AS p [RANGE 3 seconds SLIDE 3 seconds]
        GROUP BY p.id) AS q, Events AS e [RANGE 4 seconds SLIDE 3 seconds]) AS z [RANGE 3 TUPLES]""",
    "slides apart with extents counted": """SELECT a, b FROM (SELECT u.id AS a, p.id AS b FROM (SELECT id FROM Readings
        [RANGE 6 seconds SLIDE 3 seconds] UNION ALL SELECT id FROM Events [RANGE 4 seconds]) AS u,
        Pulses AS p [RANGE 3 seconds SLIDE 3 seconds]) AS z [RANGE 4 TUPLES]""",
    "sampled, of two streams, and rows counted": """SELECT id FROM (SELECT id FROM (SELECT id FROM Readings UNION ALL
        SELECT id FROM Pulses) AS q [FREQUENCY 2 seconds] UNION ALL SELECT id FROM Events) AS p [RANGE 2 TUPLES]""",
    "sampled, of two streams, with rows counted": """SELECT id, w FROM (SELECT q.id, e.v AS w FROM (SELECT id FROM
        (SELECT id FROM Readings UNION ALL SELECT id FROM Events) AS s [FREQUENCY 2 seconds]) AS q [RANGE 4 seconds],
        Events AS e [RANGE 3 seconds]) AS p [RANGE 3 TUPLES]""",
    "sampled three times": """SELECT id FROM (SELECT id FROM (SELECT id FROM (SELECT id FROM Readings UNION ALL
        SELECT id FROM Events) AS s [FREQUENCY 2 TUPLES]) AS t [FREQUENCY 2 seconds] UNION ALL SELECT id FROM Readings
        [FREQUENCY 3 seconds]) AS q [FREQUENCY 2 TUPLES]""",
    "running counts and rows counted": """SELECT id, n FROM (SELECT id, COUNT(*) AS n FROM Readings [RANGE 4 seconds]
        GROUP BY id UNION ALL SELECT id, v FROM Events) AS p [RANGE 3 TUPLES]""",
    "jumps of two streams, every third": """SELECT id, v FROM (SELECT DISTINCT id, v FROM Readings [RANGE 3 TUPLES,
        FREQUENCY 2 TUPLES] UNION ALL SELECT id, v FROM Events [RANGE 3 TUPLES, FREQUENCY 2 TUPLES]) AS p
        [FREQUENCY 3 TUPLES]""",
    "ends of two streams": """SELECT FIRST(id) AS a, LAST(v) AS b FROM (SELECT id, v FROM Readings UNION ALL
        SELECT id, v FROM Events) AS q [RANGE 4 seconds]""",
    "ends of pairs": """SELECT FIRST(w) AS a, LAST(v) AS b FROM (SELECT r.v AS w, e.v FROM Readings AS r
        [RANGE 6 seconds], Events AS e [RANGE 3 seconds]) AS q [RANGE 5 seconds]""",
    "ends of groups at boundaries": """SELECT FIRST(n) AS a, LAST(n) AS b FROM (SELECT p.id, COUNT(*) AS n
        FROM Readings AS r [RANGE 6 seconds SLIDE 3 seconds], Pulses AS p [RANGE 3 seconds SLIDE 3 seconds]
        GROUP BY p.id) AS q""",
    "ends of slides apart": """SELECT FIRST(id) AS a, LAST(id) AS b FROM (SELECT id FROM Readings [RANGE 6 seconds
        SLIDE 3 seconds] UNION ALL SELECT id FROM Events [RANGE 4 seconds]) AS q""",
    "ends of jumps per key": """SELECT FIRST(v) AS a, LAST(v) AS b FROM (SELECT id, v FROM Readings UNION ALL
        SELECT id, v FROM Events) AS q [RANGE 3 TUPLES, FREQUENCY 2 TUPLES PARTITIONED BY id]""",
    "ends of groups that may still change": """SELECT FIRST(n) AS a, LAST(n) AS b FROM (SELECT id, COUNT(*) AS n
        FROM Readings GROUP BY id) AS q""",
    "ends of a changelog with rows": """SELECT FIRST(e.v) AS a, LAST(r.v) AS b FROM Edits AS e [RANGE 5 seconds],
        Readings AS r [RANGE 5 seconds]""",
    "running counts of pairs as a stream": """SELECT m, COUNT(*) AS n FROM (SELECT id, COUNT(*) AS m FROM (SELECT r.id
        FROM Readings AS r [RANGE 6 seconds], Events AS e [RANGE 3 seconds] WHERE r.id = e.id) AS q [RANGE 4 seconds]
        GROUP BY id) AS z GROUP BY m""",
    "sampled running counts of pairs": """SELECT id, m FROM (SELECT id, COUNT(*) AS m FROM (SELECT r.id FROM Readings
        AS r [RANGE 6 seconds], Pulses AS e [RANGE 3 seconds]) AS q [RANGE 4 seconds] GROUP BY id) AS z
        [FREQUENCY 2 seconds]""",
    "running counts of two streams with rows": """SELECT z.id, p.v FROM (SELECT id, COUNT(*) AS m FROM (SELECT id
        FROM Readings UNION ALL SELECT id FROM Events) AS q [RANGE 4 seconds] GROUP BY id HAVING COUNT(*) > 1) AS z
        [RANGE 4 seconds], Pulses AS p [RANGE 3 seconds]""",
    "jumps over two streams as a stream": """SELECT id, v, n FROM (SELECT id, v, row_number AS n FROM (SELECT id, v
        FROM Readings UNION ALL SELECT id, v FROM Events) AS q [RANGE 4 TUPLES, FREQUENCY 2 TUPLES] WHERE v > 0) AS z
        [RANGE 3 seconds]""",
    "groups of jumps over two streams counted": """SELECT id, n FROM (SELECT id, COUNT(*) AS n FROM (SELECT id, v
        FROM Readings UNION ALL SELECT id, v FROM Events) AS q [RANGE 4 TUPLES, FREQUENCY 2 TUPLES] WHERE v > 0
        GROUP BY id) AS z [RANGE 3 TUPLES]""",
    "the last row of two streams, and others": """SELECT id, v FROM (SELECT id, v FROM (SELECT id, v FROM Readings
        UNION ALL SELECT id, v FROM Events) AS q [RANGE 1 TUPLE, FREQUENCY 1 TUPLE PARTITIONED BY id]
        UNION ALL SELECT id, v FROM Pulses) AS z [RANGE 3 seconds]""",
    "the last rows of slides apart with those of another": """SELECT e.id, q.v FROM Events AS e [RANGE 1 TUPLE,
        FREQUENCY 4 seconds], (SELECT id, v FROM Pulses [RANGE 7 seconds SLIDE 4 seconds] UNION ALL SELECT id, v
        FROM Readings) AS q [RANGE 2 TUPLES, FREQUENCY 4 seconds] WHERE e.id = q.id""",
    "sampled, the last rows with those of another": """SELECT q.id, r.v FROM (SELECT id FROM Pulses
        [FREQUENCY 5 seconds]) AS q [RANGE 2 TUPLES, FREQUENCY 2 seconds], Readings AS r [RANGE 4 TUPLES,
        FREQUENCY 2 seconds]""",
    "numbers": "SELECT id, row_number FROM Readings [RANGE 5 seconds] WHERE row_number % 2 = 1",
    "numbers of a changelog": "SELECT id, row_number FROM Edits [RANGE 5 seconds]",
    "numbers of groups": """SELECT id, COUNT(*) AS n, row_number FROM Readings [RANGE 5 seconds] GROUP BY id
        HAVING row_number IS NULL""",
    "greatest number": "SELECT id, MAX(row_number) AS latest FROM Readings [RANGE 5 seconds] GROUP BY id",
    "bounds of extents above a subquery": """SELECT n, window_start, window_end FROM (SELECT id, COUNT(*) AS n
        FROM Readings [RANGE 6 seconds SLIDE 3 seconds] GROUP BY id) AS q""",
    "groups by the bounds of extents": """SELECT id, window_end, COUNT(*) AS n, window_start FROM Readings
        [RANGE 4 seconds SLIDE 2 seconds] GROUP BY id, window_end, window_start""",
    "bounds of extents above a sample": """SELECT DISTINCT n, window_start FROM (SELECT id, COUNT(*) AS n
        [FREQUENCY 2 TUPLES] FROM Readings [RANGE 6 seconds SLIDE 3 seconds] GROUP BY id) AS q""",
    "whole numbers with fractions": "SELECT id, v FROM Readings [RANGE 4 seconds] UNION ALL SELECT v, x FROM Readings",
    "whole numbers less fractions": """SELECT v FROM Pulses [RANGE 6 seconds]
        EXCEPT SELECT FLOOR(x) * 1.0D FROM Readings [RANGE 3 seconds]""",
    "fractions less whole numbers": """SELECT DISTINCT x FROM Readings [RANGE 6 seconds]
        EXCEPT SELECT DISTINCT v FROM Pulses [RANGE 3 seconds]""",
    "decimals of two lengths": """SELECT CAST(v AS DECIMAL(6,1)) AS v FROM Pulses [RANGE 6 seconds]
        EXCEPT SELECT CAST(x AS DECIMAL(10,2)) FROM Readings [RANGE 3 seconds] UNION ALL SELECT v FROM Events""",
    "nothing with something": "SELECT id, NULL AS v FROM Pulses UNION ALL SELECT id, v FROM Readings [RANGE 3 seconds]",
    "days with times": """SELECT CAST(ts AS DATE) AS at FROM Pulses [RANGE 6 seconds]
        UNION ALL SELECT ts FROM Readings [RANGE 3 seconds]""",
    "whole numbers joined with fractions": """SELECT p.id, r.x FROM Pulses AS p [RANGE 6 seconds],
        Readings AS r [RANGE 3 seconds] WHERE p.v = FLOOR(r.x) * 1.0D""",
    "bounds of joined extents": """SELECT r.id, window_start, window_end, row_time
        FROM Readings AS r [RANGE 6 seconds SLIDE 3 seconds], Pulses AS p [RANGE 3 seconds SLIDE 3 seconds]
        WHERE r.id = p.id""",
    "bounds of groups of joined extents": """SELECT r.id, COUNT(*) AS n, window_end
        FROM Readings AS r [RANGE 6 seconds SLIDE 3 seconds], Pulses AS p [RANGE 3 seconds SLIDE 3 seconds]
        GROUP BY r.id""",
    **TUPLES,
}


@pytest.mark.parametrize("name", QUERIES)
def test_every_query_has_the_changelog_that_the_interpreter_says(name: str):
    plan = bind_query(f"{QUERIES[name]} EMIT CHANGES", CATALOG)
    kernel, count = ChangelogKernel(changes_of(plan)), 0
    for seed in range(law_cases(6)):
        feeds = make_feeds(Seeded(seed), STREAMS, punctuation="trailing", unit=SECOND, max_rows=30)
        feeds = ended(plan, feeds) if seed % 2 else feeds  # every lifetime ends by itself, or a flush ends it
        batches = given_by(plan, feeds)
        found = run(kernel, batches)
        # The bound of FIRST is that of its row. An equal value of the next row is sent again, but not after a flush.
        reached = max(batches[-1][1].values()) if "FIRST" in QUERIES[name] else LATEST
        check_same(found, interpret(plan, feeds, flush=True), reached)
        count += len(found.changes)
    assert count >= law_cases(11)


@pytest.mark.parametrize("name", QUERIES)
def test_rows_that_come_one_by_one_give_the_same(name: str):
    plan = bind_query(f"{QUERIES[name]} EMIT CHANGES", CATALOG)
    kernel = ChangelogKernel(changes_of(plan))
    feeds = make_feeds(Seeded(1), STREAMS, punctuation="trailing", unit=SECOND, max_rows=14)
    batches = given_by(plan, ended(plan, feeds))
    assert told(run(kernel, one_by_one(batches))) == told(run(kernel, batches))


def one_by_one(batches: list[Given]) -> list[Given]:
    """Return the same rows, one per batch, with the punctuations between the same rows."""
    before = dict.fromkeys(batches[0][1], EARLIEST)
    made: list[Given] = []
    for rows, marks in batches:
        made += [({name: (row,)}, before) for name, each in rows.items() for row in each] + [({}, marks)]
        before = marks
    return made


@pytest.mark.parametrize("name", [name for name in QUERIES if name.startswith("sampled")])
def test_what_is_sampled_comes_when_its_slot_has_passed_and_nothing_else_before_it(name: str):
    plan = bind_query(f"{QUERIES[name]} EMIT CHANGES", CATALOG)
    for seed in range(law_cases(6)):
        feeds = make_feeds(Seeded(seed), STREAMS, punctuation="trailing", unit=SECOND, max_rows=14)
        feeds = ended(plan, feeds)
        wanted, found = interpret(plan, feeds, flush=True).changes, ran(plan, feeds).changes
        for batch in range(max((each.batch for each in wanted), default=-1) + 1):
            mine, theirs = (
                {(each.type, each.valid_from) for each in log if each.batch == batch} for log in (found, wanted)
            )
            assert mine == theirs


def test_what_waits_is_part_of_the_state():
    """A state that goes through bytes after every batch yields what one does that stays in memory."""
    plan = bind_query(f"{QUERIES['sampled beside a changelog']} EMIT CHANGES", CATALOG)
    feeds = ended(plan, make_feeds(Seeded(3), STREAMS, punctuation="trailing", unit=SECOND, max_rows=14))
    kernel, batches = ChangelogKernel(changes_of(plan)), given_by(plan, feeds)
    assert run(kernel, batches, stored=True).changes == run(kernel, batches, stored=False).changes


def test_pairs_that_are_met_at_one_time_come_in_the_order_in_which_they_began():
    """Of two pairs that live when a third row comes, the one that began last is the last, though it ends first."""
    plan = bind_query(
        """SELECT LAST(r.v) AS v FROM Pulses AS r [RANGE 9 seconds], Pulses AS p [RANGE 6 seconds],
        Events AS e [RANGE 8 seconds] WHERE r.id = p.id AND r.v > 50 AND p.v < 50 EMIT CHANGES""",
        CATALOG,
    )
    pulses = [(1, 100, 0), (2, 104, 4), (2, 1, 4), (1, 2, 5)]
    rows = tuple({"id": key, "v": value, "ts": time * SECOND} for key, value, time in pulses)
    event = {"id": 0, "v": 0, "ts": 7 * SECOND, "arrived": 7 * SECOND}
    given = {
        "Pulses": Feed((FeedBatch(rows, 6 * SECOND), FeedBatch((), 20 * SECOND), FeedBatch())),
        "Events": Feed((FeedBatch((), 6 * SECOND), FeedBatch((event,), 20 * SECOND), FeedBatch())),
    }
    changes = ran(plan, given).changes
    assert [(each.row["v"], each.valid_from // SECOND) for each in changes] == [(100, 7), (104, 9)]


def test_windows_that_are_read_together_go_as_far_as_the_slowest():
    """At 16 s one side has come to its boundary; the other, of samples of 5 s, comes to it at 20 s."""
    plan = bind_query(f"{QUERIES['sampled, the last rows with those of another']} EMIT CHANGES", CATALOG)
    pulse, reading = {"id": 0, "v": 9, "ts": 7 * SECOND}, {"id": 0, "v": 3, "ts": 12 * SECOND}
    feeds = {
        "Pulses": Feed((FeedBatch((pulse,), 16 * SECOND), FeedBatch((), 20 * SECOND), FeedBatch())),
        "Readings": Feed((FeedBatch((reading,), 16 * SECOND), FeedBatch((), 20 * SECOND), FeedBatch())),
    }
    found = ran(plan, feeds)
    check_same(found, interpret(plan, feeds, flush=True))
    assert [(each.valid_from + 1) // SECOND for each in found.changes] == [14, 16, 18, 20]


@pytest.mark.parametrize("name", ["greatest number", "numbers of what is sampled", "numbers of a subquery"])
def test_rows_that_are_numbered_stay_together(name: str):
    made = ChangelogKernel(changes_of(bind_query(f"{QUERIES[name]} EMIT CHANGES", CATALOG)))
    assert partitioning(made.query) is None


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("SELECT v FROM Edits [RANGE 2 TUPLES]", "SW-243"),
        ("SELECT v FROM Edits [RANGE 5 seconds SLIDE 5 seconds]", "SW-243"),
        ("SELECT v FROM Edits [FREQUENCY 5 seconds]", "SW-243"),
    ],
)
def test_what_is_refused(query: str, code: str):
    with pytest.raises(QueryError, match=code):
        changes_of(bind_query(f"{query} EMIT CHANGES", CATALOG))
