"""The interpreter's definitions against the batch rules of the language, carried out step by step with state."""

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.algebra.catalog import StreamDef
from slackwater.algebra.lengths import Kind, Length
from slackwater.algebra.nodes import Aggregate, Disorder, Emit, Frequency, Item, Plan, Policy, Project, Scan, Window
from slackwater.algebra.schema import Expr
from slackwater.semantics import Feed, interpret
from slackwater.testing.catalog import CATALOG, READINGS
from slackwater.testing.streams import feed

STREAM: StreamDef = READINGS
SEQUENCE = Disorder(CATALOG.fill(Scan("Readings", "S", (), "")), Policy())
COUNT = (Item("n", Expr("COUNT(*)", "bigint")),)
V = (Item("v", Expr("v", "int")),)
QUICK = settings(max_examples=80, deadline=None)
Row = dict[str, object]


def time(amount: int) -> Length:
    return Length(amount, Kind.TIME)


def tuples(amount: int) -> Length:
    return Length(amount, Kind.TUPLES)


def batches(given_feed: Feed):
    """Yield the number of each batch, its rows with an event time, and the punctuation before it."""
    before = None
    for number, batch in enumerate(given_feed.batches):
        rows = [(position, row) for position, row in enumerate(batch.rows) if row["ts"] is not None]
        yield number, [(row["ts"], row["arrived"], number, position, row) for position, row in rows], before
        if batch.punctuation is not None:
            before = batch.punctuation if before is None else max(before, batch.punctuation)


def emit_extents(given_feed: Feed, length: int, slide: int) -> tuple[list, list]:
    """Return the emitted windows and the late rows, by steps 2 and 3 of the procedure.

    (2) Rows enter every window that is not emitted. (3) Windows with boundary <= P are emitted, once.
    """
    windows: dict[int, int] = {}
    emitted: set[int] = set()
    out, late = [], []
    for number, rows, before in batches(given_feed):
        for row in rows:
            mine = [b for b in range(slide * -50, slide * 500, slide) if b - length <= row[0] < b]
            missed = [boundary for boundary in mine if boundary in emitted]
            for boundary in set(mine) - set(missed):
                windows[boundary] = windows.get(boundary, 0) + 1
            if before is not None and row[0] < before:
                late.append((row[0], before - row[0], len(missed)))
        if before is None:
            continue
        for boundary in sorted(windows):
            if boundary <= before and boundary not in emitted:
                out.append((number, boundary - 1, windows[boundary]))
        emitted |= set(range(slide * -50, before + 1, slide))
    return out, late


def release(given_feed: Feed) -> tuple[list, list]:
    """Return the released and the late rows of a reorder buffer, which rows leave in sequence order when t < P."""
    waiting: list = []
    released, late = [], []
    frontier = None
    for number, rows, before in batches(given_feed):
        for row in rows:
            lost = frontier is not None and row[0] < frontier
            if before is not None and row[0] < before:
                late.append((row[0], before - row[0], int(lost)))
            if not lost:
                waiting.append(row)
        if before is not None:
            leaving = sorted((row for row in waiting if row[0] < before), key=lambda row: row[:4])
            released += [(number, row[0], row[4]) for row in leaving]
            waiting = [row for row in waiting if row[0] >= before]
            frontier = before
    return released, late


def answered(plan: Plan, given_feed: Feed) -> tuple[list, list]:
    answer = interpret(Emit(plan), {"Readings": given_feed})
    rows = [(row.batch, row.time, *row.row.values()) for row in answer.rows]
    return rows, [(row.row["ts"], row.late_by, row.missed) for row in answer.late]


@QUICK
@given(feed(STREAM), st.integers(1, 12), st.integers(1, 8))
def test_extents_are_emitted_once_with_all_that_came_by_then(given_feed: Feed, length: int, slide: int):
    plan = Aggregate(Window(SEQUENCE, time(length), time(slide)), (), COUNT)
    assert answered(plan, given_feed) == emit_extents(given_feed, length, slide)


@QUICK
@given(feed(STREAM))
def test_the_sequence_is_what_a_reorder_buffer_releases(given_feed: Feed):
    released, late = release(given_feed)
    expected = [(batch, at, row["v"]) for batch, at, row in released]
    assert answered(Project(SEQUENCE, V), given_feed) == (expected, late)


def over_sequence(given_feed: Feed, value: Callable[[list, int], object]) -> list:
    """Return a value for each position of the released sequence, from all rows up to it."""
    rows = [(batch, at, row) for batch, at, row in release(given_feed)[0]]
    return [(batch, at, value([each[1:] for each in rows[: j + 1]], at)) for j, (batch, at, _) in enumerate(rows)]


@QUICK
@given(feed(STREAM), st.integers(1, 9))
def test_a_window_at_rows_counts_the_sequence(given_feed: Feed, length: int):
    by_time = over_sequence(given_feed, lambda rows, at: sum(at - length < t <= at for t, _ in rows))
    assert answered(Aggregate(Window(SEQUENCE, time(length)), (), COUNT), given_feed)[0] == by_time
    by_count = over_sequence(given_feed, lambda rows, at: min(len(rows), length))
    assert answered(Aggregate(Window(SEQUENCE, tuples(length)), (), COUNT), given_feed)[0] == by_count


@QUICK
@given(feed(STREAM), st.integers(1, 4), st.integers(1, 9))
def test_jumps_are_every_nth_window(given_feed: Feed, jump: int, length: int):
    every = answered(Aggregate(Window(SEQUENCE, time(length)), (), COUNT), given_feed)[0]
    jumping = Frequency(Window(SEQUENCE, time(length)), tuples(jump))
    assert answered(Aggregate(jumping, (), COUNT), given_feed)[0] == every[jump - 1 :: jump]


@QUICK
@given(feed(STREAM), st.integers(1, 9))
def test_a_slot_is_sampled_when_it_has_passed(given_feed: Feed, length: int):
    clocks = [before for _, _, before in batches(given_feed)]
    rows = [(at, row) for _, at, row in release(given_feed)[0]]
    expected = []
    for slot in sorted({at // length for at, _ in rows}):
        at, row = [each for each in rows if each[0] // length == slot][-1]
        passed = [n for n, before in enumerate(clocks) if before is not None and before >= (slot + 1) * length]
        expected += [(passed[0], at, row["v"])] if passed else []
    assert answered(Project(Frequency(SEQUENCE, time(length)), V), given_feed)[0] == expected


@QUICK
@given(feed(STREAM, far_future=False), st.integers(1, 4), st.integers(2, 9))
def test_the_last_rows_before_every_boundary(given_feed: Feed, count: int, slide: int):
    released = release(given_feed)[0]
    clocks = [before for _, _, before in batches(given_feed)]
    expected = []
    for boundary in range(0, 400, slide):
        passed = [number for number, before in enumerate(clocks) if before is not None and before >= boundary]
        window = [row["v"] for _, at, row in released if at < boundary][-count:]
        expected += [(passed[0], boundary - 1, v) for v in window if passed]
    jumping = Frequency(Window(SEQUENCE, tuples(count)), time(slide))
    assert answered(Project(jumping, V), given_feed)[0] == expected
