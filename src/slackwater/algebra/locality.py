"""CSQL definition 1: an operator is local if its answer at time t depends only on its input at time t."""

from __future__ import annotations

from slackwater.algebra.instants import instants_of
from slackwater.algebra.nodes import Aggregate, Distinct, Emit, Frequency, Join, Minus, Plan, Project, Select, Union

POINTWISE = (Select, Project, Union, Emit)
"""Local whatever their input is."""
RELATIONAL = (Aggregate, Distinct, Minus, Join)
"""Local over boundaries, where the relation of an instant is all that they read."""


def is_local(plan: Plan) -> bool:
    """Whether this operator, its inputs given, is local.

    A time frequency is not, other than CSQL section 5 says: which row is the last of its slot depends on the rest
    of the slot. Its strict form (CSQL 4.4) is.
    """
    match plan:
        case Frequency(strict=strict):
            return strict
        case _ if isinstance(plan, RELATIONAL):
            return instants_of(plan).at_boundaries
        case _:
            return isinstance(plan, POINTWISE)
