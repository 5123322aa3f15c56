"""The net effect of a batch of a changelog: the last change of each key."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

CHANGE, SINCE, UNTIL = "_change_type", "_valid_from", "_valid_to"
DELETE, INSERT = "delete", "insert"
ENDS = (DELETE, "update_preimage")
"""The types of changes that end a row. All other types are live rows."""
PLACE = "__place"


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
