"""The order of an operator's rows."""

from __future__ import annotations

from enum import Enum

from slackwater.algebra.nodes import Plan, Scan
from slackwater.algebra.properties.instants import instants_of


class Order(Enum):
    ARRIVAL = "arrival"
    """In order of arrival; event times may be in any order."""
    SEQUENCE = "sequence"
    """By event time, then arrival, then position in the source. Tuple windows and frequencies count in this order."""
    BOUNDARY = "boundary"
    """By the boundary that emitted them; rows of one boundary have no order."""


def order_of(plan: Plan) -> Order:
    """Return the order of an operator's rows."""
    if isinstance(plan, Scan):
        return Order.ARRIVAL
    return Order.BOUNDARY if instants_of(plan).at_boundaries else Order.SEQUENCE
