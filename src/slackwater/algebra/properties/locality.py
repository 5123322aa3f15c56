"""Which operators are local (CSQL definition 1): their answer at time t depends only on their input at time t."""

from __future__ import annotations

from slackwater.algebra.nodes import Aggregate, Distinct, Emit, Frequency, Join, Minus, Plan, Project, Select, Union
from slackwater.algebra.properties.instants import instants_of

POINTWISE = (Select, Project, Union, Emit)
"""Operators that are local for every input."""
RELATIONAL = (Aggregate, Distinct, Minus, Join)
"""Operators that are local at boundaries, because they read only the relation of one boundary."""


def is_local(plan: Plan) -> bool:
    """Return whether this operator is local, given its inputs.

    A time frequency is not local, although CSQL section 5 says so: which row is the last of its slot depends on the
    rest of the slot. Its strict form (CSQL 4.4) is local.
    """
    match plan:
        case Frequency(strict=strict):
            return strict
        case _ if isinstance(plan, RELATIONAL):
            return instants_of(plan).at_boundaries
        case _:
            return isinstance(plan, POINTWISE)
