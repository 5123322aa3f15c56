"""Plans that read the log of a view instead of computing the view."""

from __future__ import annotations

from collections.abc import Collection, Iterator

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
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.properties.instants import instants_of
from slackwater.algebra.schema import Expr, Field
from slackwater.spark.planner.obstacles import obstacles
from slackwater.spark.planner.ways import MANY_COPIES, copies_of

LOGS = "view."
"""The prefix of the stream that reads a view's log. No declared name contains a dot."""
ROW_TIME = "__slackwater_row_time"
"""The column of a log with the event time of its rows."""


def log_name(view: str) -> str:
    """Return the name of the stream that reads a view's log.

    >>> log_name("Rates"), is_log("view.Rates"), is_log("Rates")
    ('view.Rates', True, False)
    """
    return f"{LOGS}{view}"


def is_log(stream: str) -> bool:
    return stream.startswith(LOGS)


def kept_plan(name: str, query: Plan) -> Plan:
    """Return the query that keeps a view: the rows of the view with their event times."""
    items = [Item(field.name, Expr(field.name, field.type)) for field in schema_of(query)]
    return Emit(Project(Subquery(name, query), (*items, Item(ROW_TIME, Expr("row_time", "timestamp")))))


def views_in(plan: Plan, kept: Collection[str] = ()) -> Iterator[View]:
    """Yield the views that a plan reads, from the top down, without the views below a kept one."""
    if isinstance(plan, View):
        yield plan
        if plan.name.lower() in kept:
            return
    for each in inputs(plan):
        yield from views_in(each, kept)


def over_logs(plan: Plan, kept: Collection[str]) -> Plan:
    """Return the plan in which kept views (names in lower case) are read from their logs.

    For Spark's own operators the event time of a log is not a column of the stream, so that it need not be removed
    again. The fused operator reads all columns from the stream.
    """
    plain = _replaced(plan, kept, hidden=True)
    if copies_of(plain) < MANY_COPIES and next(obstacles(over_named_logs(plan, kept)), None) is None:
        return plain
    return over_named_logs(plan, kept)


def over_named_logs(plan: Plan, kept: Collection[str]) -> Plan:
    """Return the result of `over_logs`, with each log under a select list that leaves out its event time."""
    return _replaced(plan, kept, hidden=False)


def _replaced(plan: Plan, kept: Collection[str], *, hidden: bool, windowed: bool = False) -> Plan:
    match plan:
        case View() if plan.name.lower() in kept:
            stream = _hidden(plan) if hidden else _named(plan)
            every = instants_of(plan).every
            # A view with boundaries is read at its boundaries, unless there is a window over it.
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
