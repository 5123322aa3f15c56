"""What a sink needs that keeps a table of the live rows of a changelog: the key, and the net effect of a batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slackwater.errors import InputError

CHANGE, SINCE, UNTIL = "_change_type", "_valid_from", "_valid_to"
DELETE, INSERT = "delete", "insert"
ENDS = (DELETE, "update_preimage")
"""The types of changes that end a row. All other types are live rows."""
PLACE = "__place"


def key_among(sink: str, key: Sequence[str] | None, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the key of a changelog's rows as `columns` spell it. Raise an error if it is not among them."""
    named = {name.lower(): name for name in columns}
    if not {CHANGE, SINCE, UNTIL} <= set(columns):
        raise InputError(
            "SW-458",
            f"the sink '{sink}' keeps a table up to date, for which it needs the columns of a changelog",
            expected=f"{CHANGE}, {SINCE} and {UNTIL}",
            hint="leave the changelog's profile as it is, or write the rows as they are: mode 'append'",
        )
    if key is None or not all(name.lower() in named for name in key):
        raise InputError(
            "SW-454",
            f"the rows for the sink '{sink}' have no key that is among their columns",
            expected="columns that tell one row from another"
            + (f": {', '.join(key)}" if key else ", declared or inferred"),
            hint="declare PRIMARY KEY at the stream or view and select its columns, or use mode 'append'",
        )
    return tuple(named[name.lower()] for name in key)


def net(changes: pa.Table, key: Sequence[str]) -> pa.Table:
    """Return the last change of each key, by `_valid_from`, then by its place; its type becomes INSERT or DELETE.

    >>> changes = pa.table({"_change_type": ["insert", "delete", "insert"], "k": [1, 1, 2], "_valid_from": [5, 9, 7]})
    >>> net(changes, ["k"]).to_pylist()
    [{'k': 2, '_valid_from': 7, '_change_type': 'insert'}, {'k': 1, '_valid_from': 9, '_change_type': 'delete'}]
    """
    placed = changes.append_column(PLACE, pa.array(np.arange(changes.num_rows)))
    order = pc.sort_indices(placed, [(SINCE, "ascending"), (PLACE, "ascending")])
    ordered = changes.take(order)
    last = ordered.take(_last(ordered, key))
    ends = pc.is_in(last[CHANGE], pa.array(ENDS, last[CHANGE].type))
    return last.drop([CHANGE]).append_column(CHANGE, pc.if_else(ends, DELETE, INSERT))


def _last(ordered: pa.Table, key: Sequence[str]) -> pa.Array:
    """Return the place of the last row of each key. NULL equals NULL."""
    if not ordered.num_rows or not key:
        return pa.array([ordered.num_rows - 1] if ordered.num_rows else [], pa.int64())
    placed = ordered.select(list(key)).append_column(PLACE, pa.array(np.arange(ordered.num_rows)))
    found = placed.group_by(list(key)).aggregate([(PLACE, "max")])[f"{PLACE}_max"]
    return found.take(pc.sort_indices(found))
