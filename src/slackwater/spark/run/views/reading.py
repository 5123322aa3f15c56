"""Plans over what a view's own query has written, in place of what the view would compute."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from slackwater.algebra.columns import schema_of
from slackwater.algebra.instants import instants_of
from slackwater.algebra.nodes import (
    Disorder,
    Emit,
    Item,
    Plan,
    Policy,
    Project,
    Scan,
    Select,
    Subquery,
    View,
    Window,
    inputs,
    with_inputs,
)
from slackwater.algebra.schema import Expr, Field
from slackwater.spark.planner.obstacles import obstacles
from slackwater.spark.planner.ways import MANY_COPIES, copies_of

LOGS = "view."
"""Before the name of a view: its log as a stream. No declared name has a dot."""
ROW_TIME = "__slackwater_row_time"
"""The column of a log with the event time of its rows."""


def log_name(view: str) -> str:
    """The stream that a view's log is.

    >>> log_name("Rates"), is_log("view.Rates"), is_log("Rates")
    ('view.Rates', True, False)
    """
    return f"{LOGS}{view}"


def is_log(stream: str) -> bool:
    return stream.startswith(LOGS)


def kept_plan(name: str, query: Plan) -> Plan:
    """The query that keeps a view: what the view yields, each row with its event time."""
    items = [Item(field.name, Expr(field.name, field.type)) for field in schema_of(query)]
    return Emit(Project(Subquery(name, query), (*items, Item(ROW_TIME, Expr("row_time", "timestamp")))))


def views_in(plan: Plan, kept: Collection[str] = ()) -> Iterator[View]:
    """The views that a plan reads, from the top down; what a kept view reads is its own business."""
    if isinstance(plan, View):
        yield plan
        if plan.name.lower() in kept:
            return
    for each in inputs(plan):
        yield from views_in(each, kept)


def over_logs(plan: Plan, kept: Collection[str]) -> Plan:
    """The plan with the views that are kept (by their names in lower case) read from their logs.

    Under Spark's own operators the event time of a log is no column of the stream, so that nothing has to take it out
    again; the fused operator takes all columns of its input from the stream.
    """
    plain = _replaced(plan, kept, hidden=True)
    if copies_of(plain) < MANY_COPIES and next(obstacles(over_named_logs(plan, kept)), None) is None:
        return plain
    return over_named_logs(plan, kept)


def over_named_logs(plan: Plan, kept: Collection[str]) -> Plan:
    """The same, each log under a select list that leaves out its event time."""
    return _replaced(plan, kept, hidden=False)


def _replaced(plan: Plan, kept: Collection[str], *, hidden: bool, windowed: bool = False) -> Plan:
    match plan:
        case View() if plan.name.lower() in kept:
            stream = _hidden(plan) if hidden else _named(plan)
            every = instants_of(plan).every
            # What has boundaries of its own is read at them, unless a window says otherwise.
            return Window(stream, every, every) if every.is_time and not windowed else stream
        case Window():
            windowed = True
        case Select() | Project():
            pass
        case _:
            windowed = False
    return with_inputs(plan, tuple(_replaced(each, kept, hidden=hidden, windowed=windowed) for each in inputs(plan)))


def _hidden(view: View) -> Plan:
    return Disorder(Scan(log_name(view.name), view.alias, _fields(view), ROW_TIME), Policy())


def _named(view: View) -> Plan:
    fields = (*_fields(view), Field(ROW_TIME, "timestamp"))
    log = Disorder(Scan(log_name(view.name), view.alias, fields, ROW_TIME), Policy())
    items = tuple(Item(field.name, Expr(field.name, field.type)) for field in _fields(view))
    return Subquery(view.alias, Project(log, items))


def _fields(view: View) -> tuple[Field, ...]:
    return tuple(Field(field.name, field.type) for field in schema_of(view.query))
