"""Expressions and aggregate functions over single rows, as far as the queries that are compared need them."""

from __future__ import annotations

import operator
from collections import Counter
from itertools import groupby

BINARY = {
    "+": operator.add,
    "-": operator.sub,
    "%": operator.mod,
    "=": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
    "<": operator.lt,
}


def value(tree, row):
    """Return the value of an expression over a row, which maps column names to values."""
    match tree:
        case ["column", name]:
            return row[name]
        case ["literal", known, _]:
            return known
        case ["cast", inner, _]:
            return value(inner, row)
        case [name, left, right]:
            return BINARY[name](value(left, row), value(right, row))
    raise ValueError(tree)


def values(trees, names, row):
    """Several expressions over a row."""
    named = dict(zip(names, row, strict=True))
    return tuple(value(tree, named) for tree in trees)


def moments(events, time):
    """Events by the time at which they happen, in order."""
    return groupby(sorted(events, key=time), key=time)


class Members:
    """The rows of a group by their arguments, and what its calls make of them."""

    def __init__(self, calls):
        self.functions = [call.function for call in calls]
        self.rows = Counter()
        self.sums = [0] * len(calls)

    def change(self, arguments, sign):
        self.rows[arguments] += sign
        if not self.rows[arguments]:
            del self.rows[arguments]
        self.sums = [total + sign * (each or 0) for total, each in zip(self.sums, arguments, strict=True)]

    def results(self):
        """Return the value of each call; None if there are no rows."""
        if not self.rows:
            return None
        return tuple(self.result(place, function) for place, function in enumerate(self.functions))

    def result(self, place, function):
        match function:
            case "sum":
                return self.sums[place]
            case "count":
                return self.rows.total()
            case "min" | "max":
                return {"min": min, "max": max}[function](each[place] for each in self.rows)
        raise ValueError(function)


def arguments_of(calls):
    """Return the argument of each call; COUNT(*) has none."""
    return [call.arguments[0] if call.arguments else ("literal", None, "void") for call in calls]
