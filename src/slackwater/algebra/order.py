"""In which order an operator's rows come."""

from __future__ import annotations

from enum import Enum

from slackwater.algebra.instants import instants_of
from slackwater.algebra.nodes import Plan, Scan


class Order(Enum):
    ARRIVAL = "arrival"
    """As they came: event times in any order."""
    SEQUENCE = "sequence"
    """By event time, then arrival, then position in the source: the order in which rows are counted."""
    BOUNDARY = "boundary"
    """By the boundary that emitted them; within one boundary in no order."""


def order_of(plan: Plan) -> Order:
    """The order of an operator's rows."""
    if isinstance(plan, Scan):
        return Order.ARRIVAL
    return Order.BOUNDARY if instants_of(plan).at_boundaries else Order.SEQUENCE
