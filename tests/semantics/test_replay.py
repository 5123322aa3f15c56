"""EMIT CHANGES replayed as a table is, at every point in time, the query over the rows that live then."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.law_cases import law_cases
from tests.semantics.endings import ended

from slackwater.algebra.lengths import Kind, Length
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
    Union,
    Window,
)
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.schema import Expr
from slackwater.semantics import Answer, Feed, interpret, relational
from slackwater.semantics.rows import Change, Row, Value
from slackwater.semantics.values import orders
from slackwater.testing.plans import Case, Shape, seeded_cases

SHAPE = Shape(mode=Mode.CHANGES, instants=("stream", "rows", "jumps"), subqueries=False, ordered=False)


class Live:
    """A plan over the rows that live at a point in time, computed from nothing but the streams' sequences."""

    def __init__(self, feeds: dict[str, Feed], time: int) -> None:
        self.feeds = feeds
        self.time = time

    def rows(self, plan: Plan) -> list[Row]:
        match plan:
            case Disorder(child=Scan() as scan):
                rows = [row for row in self.sequence(scan) if row.time <= self.time]
                return self.kept(rows) if scan.change_type else rows
            case Window(child=child, range=length, every=every, by=by):
                return self.window(length, every.amount, self.parts(child, by))
            case Frequency(child=Window(child=child, range=length), every=every, by=by):
                return self.window(length, every.amount, self.parts(child, by))
            case Select(child=child, condition=condition):
                return relational.select(self.rows(child), condition, schema_of(child))
            case Project(child=child, items=items):
                return relational.project(self.rows(child), items, schema_of(child))
            case Aggregate(child=child):
                return relational.aggregate(self.rows(child), plan, schema_of(child))
            case Distinct(child=child):
                return relational.distinct(self.rows(child))
            case Join(left=left, right=right, condition=condition):
                return relational.join(self.rows(left), self.rows(right), condition, schema_of(plan))
            case Union(left=left, right=right):
                return self.rows(left) + self.rows(right)
            case Minus(left=left, right=right):
                return relational.minus(self.rows(left), self.rows(right))
        raise TypeError(plan)

    def kept(self, rows: list[Row]) -> list[Row]:
        """Return the rows of `Edits` (op, id, v, ts) that its changes leave: a table by id."""
        table: dict[object, Row] = {}
        for row in rows:
            op, key, *_ = row.values
            if op == "delete":
                table.pop(key, None)
            elif op == "update_postimage" or key not in table:
                table[key] = row
        return list(table.values())

    def parts(self, plan: Plan, by: tuple[str, ...]) -> list[list[Row]]:
        rows, names = self.rows(plan), [each.name for each in schema_of(plan)]
        keys = [orders(row.values[names.index(column)] for column in by) for row in rows]
        return [[row for row, mine in zip(rows, keys, strict=True) if mine == key] for key in dict.fromkeys(keys)]

    def window(self, length: Length, jump: int, parts: list[list[Row]]) -> list[Row]:
        """Return the rows of the last r, or the last n, of each part: now, or at its last jump."""
        held = []
        for part in parts:
            seen = part[: len(part) // jump * jump]
            now = self.time if jump == 1 else seen[-1].time if seen else 0
            held += (
                [row for row in seen if now - length.amount < row.time] if length.is_time else seen[-length.amount :]
            )
        return held

    def sequence(self, scan: Scan) -> list[Row]:
        """Return the released rows of a stream, as a query for all of its columns answers them.

        The clock is that of the whole query, so that every stream is asked for at once.
        """
        items = tuple(Item(each.name, Expr(each.name, each.type)) for each in scan.fields)
        answer = interpret(Emit(Project(Disorder(scan, Policy()), items)), slowest(self.feeds), flush=True)
        return [Row(tuple(result.row.values()), result.time) for result in answer.rows]


def slowest(feeds: dict[str, Feed]) -> dict[str, Feed]:
    """Return the feeds with one clock: after each batch the smallest of their punctuations."""
    longest = max(len(feed.batches) for feed in feeds.values())
    clocks = []
    for feed in feeds.values():
        marks = [batch.punctuation for batch in feed.batches] + [None] * (longest - len(feed.batches))
        highest = [max((mark for mark in marks[: n + 1] if mark is not None), default=None) for n in range(longest)]
        clocks.append(highest)
    least = [None if None in marks else min(marks) for marks in zip(*clocks, strict=True)]
    empty = Feed.of([], [None] * longest)
    padded = {name: (*feed.batches, *empty.batches[len(feed.batches) :]) for name, feed in feeds.items()}
    return {
        name: Feed(tuple(type(batch)(batch.rows, mark) for batch, mark in zip(batches, least, strict=True)))
        for name, batches in padded.items()
    }


def table_at(changes: Sequence[Change], time: int) -> list[Mapping[str, Value]]:
    """Return the rows that live at a point in time: begun, and neither expired nor deleted."""
    begun = [change for change in changes if change.valid_from <= time]
    deleted = {change.number for change in begun if change.type == "delete"}
    inserts = (change for change in begun if change.type == "insert" and change.number not in deleted)
    return [each.row for each in inserts if each.valid_to is None or each.valid_to > time]


def moments(answer: Answer) -> list[int]:
    times = {each.valid_from for each in answer.changes} | {each.valid_to or 0 for each in answer.changes}
    return sorted(times | {time - 1 for time in times})


EDITED = replace(SHAPE, streams=("Edits", "Edits", "Pulses"), instants=("stream", "rows"), ranges=(Kind.TIME,))


@settings(max_examples=law_cases(150), deadline=None)
@given(st.one_of(seeded_cases(SHAPE, max_rows=12), seeded_cases(EDITED, max_rows=12)))
def test_the_table_is_the_query_over_the_live_rows(case: Case):
    answer = interpret(case.plan, ended(case.plan, case.feeds))
    for time in moments(answer):
        table = Counter(orders(row.values()) for row in table_at(answer.changes, time))
        live = Counter(orders(row.values) for row in Live(case.feeds, time).rows(case.plan.child))
        assert table == live
