"""The changelog of a plan: each operator is a function of its inputs' changelogs."""

from __future__ import annotations

from dataclasses import dataclass, field

from slackwater.algebra.lengths import ONE_TUPLE
from slackwater.algebra.nodes import (
    Aggregate,
    Disorder,
    Distinct,
    Emit,
    Frequency,
    Join,
    Minus,
    Plan,
    Project,
    Scan,
    Select,
    Subquery,
    Union,
    View,
    Window,
    inputs,
    walk,
)
from slackwater.algebra.properties.columns import schema_of
from slackwater.algebra.properties.instants import instants_of
from slackwater.errors import QueryError
from slackwater.semantics import relational
from slackwater.semantics.changelog import merging, pointwise, sources
from slackwater.semantics.changelog.temporal import Log
from slackwater.semantics.expressions import holds
from slackwater.semantics.final import no_final_answer
from slackwater.semantics.rows import Rejected, Row, Values
from slackwater.semantics.streams import PlanRun, is_jump
from slackwater.semantics.values import orders


@dataclass
class Changes:
    """The changelogs of the operators of one run, and the rows that a changelog input refused."""

    run: PlanRun
    refused: list[Rejected] = field(default_factory=list)

    def log(self, plan: Plan) -> Log:
        """Return the changelog of an operator over the disorder-controlled order of its streams."""
        instants = instants_of(plan)
        if instants.at_boundaries and not changing(plan) and not differing(plan):
            # An answer at a boundary lasts until the next boundary.
            return sources.of_stream(self.run.stream(plan), instants.every.amount)
        match plan:
            case Scan(change_type=None):
                return sources.of_stream(self.run.stream(plan))
            case Scan():
                incoming = sources.ChangelogFeed(plan)
                log = incoming.log(self.run.stream(plan))
                self.refused += incoming.refused
                return log
            case Disorder(child=child) | Emit(child=child):
                return self.log(child)
            case Subquery(query=query) | View(query=query):
                return self.log(query) if changing(query) else sources.of_stream(self.run.stream(plan))
            case Window(child=child, range=length, every=every) if length.is_time and every == ONE_TUPLE:
                return pointwise.range_window(self.log(child), length.amount)
            case Window() | Frequency():
                return self.replace_rows(plan)
            case _:
                return self.relational(plan)

    def replace_rows(self, plan: Plan) -> Log:
        """Return the changelog of a tuple window or a jumping window: the rows of its last instant live.

        A frequency without a window samples rows.
        """
        if changing(plan) or not (is_jump(plan) or isinstance(plan, Window) or plain(inputs(plan)[0])):
            raise QueryError(
                "SW-243", "rows that may still change cannot be counted", hint="count them in the query that reads this"
            )
        if isinstance(plan, Frequency) and not is_jump(plan):
            return sources.of_stream(self.run.stream(plan))
        instants = self.run.passed_instants(plan)
        return sources.of_instants([(instant, self.run.relation(plan, instant)) for instant in instants])

    def relational(self, plan: Plan) -> Log:
        """Return the changelog of an operator between the windows and the root."""
        match plan:
            case Select(child=child):
                return pointwise.filter_log(self.log(child), lambda row: holds(plan.condition, schema_of(child), row))
            case Project(child=child, items=items):
                return pointwise.project_log(
                    self.log(child), lambda row: relational.project([row], items, schema_of(child))[0]
                )
            case Join(left=left, right=right, condition=condition):
                schema = schema_of(plan)
                return pointwise.join(
                    self.log(left), self.log(right), lambda one, two: relational.join(one, two, condition, schema)
                )
            case Union(left=left, right=right):
                return pointwise.union(self.log(left), self.log(right))
            case Distinct(child=child):
                return merging.distinct(self.log(child))
            case Minus(left=left, right=right):
                return merging.minus(self.log(left), self.log(right))
            case Aggregate(child=child):
                return self.aggregate(plan, child)
            case _:
                raise QueryError("SW-243", f"{type(plan).__name__} has no changelog", hint="use EMIT FINAL")

    def aggregate(self, plan: Aggregate, child: Plan) -> Log:
        schema = schema_of(child)

        def value(rows: list[Row]) -> Values | None:
            return next((row.values for row in relational.aggregate(rows, plan, schema)), None)

        return merging.aggregate(self.log(child), lambda row: orders(relational.key_of(row, plan.group, schema)), value)


def changing(plan: Plan) -> bool:
    """Return whether later rows may end a plan's rows. Only a changelog can show such a plan."""
    incoming = any(isinstance(node, Scan) and node.change_type for node in walk(plan))
    inner = [node for node in walk(plan) if isinstance(node, (Subquery, View))]
    return incoming or bool(no_final_answer(plan)) or any(no_final_answer(node.query) for node in inner)


def differing(plan: Plan) -> bool:
    """Return whether a UNION combines sides with different boundaries. An answer lasts until the next of its side."""
    match plan:
        case Union(left=left, right=right):
            return instants_of(left).every != instants_of(right).every or differing(left) or differing(right)
        case Select(child=child) | Project(child=child) | Emit(child=child):
            return differing(child)
        case _:
            return False


def plain(plan: Plan) -> bool:
    """Return whether an operator yields a stream without a window."""
    match plan:
        case Scan() | Subquery() | View():
            return True
        case Disorder(child=child) | Select(child=child) | Project(child=child) | Frequency(child=child):
            return plain(child)
        case _:
            return False
