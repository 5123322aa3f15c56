"""The rows of a changelog, as Slackwater and other systems write them.

| profile | columns before those of the query |
|---|---|
| `changes` | `_change_type` (insert, delete), `_valid_from`, `_valid_to` (NULL: no end is known) |
| `updates` | the same; a delete and an insert of one key are `update_preimage` and `update_postimage` |
| `flink` | `op` (+I, -U, +U, -D), `_valid_from`, `_valid_to` |
| `debezium` | `op` (c, u, d), `before` and `after` (structs), `_valid_from`, `_valid_to`; an update is one row |

Both times of a delete are the time of the delete. A delete and an insert are an update if they have the same key and
time; in a net change, if they have the same key. Rows are ordered by time, deletes first; rows of a net change by key,
then time.

With `upserts` an update is only its new row (`update_postimage`, `+U`), which replaces the live row of its key. This
needs a key. An update of `debezium` is always one row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from slackwater.engine.changelog.log import TupleLog
from slackwater.engine.columns.arrays import LATEST, Bools, Ints, ints, moments, stacked, table
from slackwater.engine.columns.keys import dense, normal, ranked
from slackwater.errors import QueryError

PROFILES = ("changes", "updates", "flink", "debezium")
TYPE, FROM, TO, OP = "_change_type", "_valid_from", "_valid_to", "op"
NAMES = {
    "changes": ("delete", "insert", "delete", "insert"),
    "updates": ("delete", "insert", "update_preimage", "update_postimage"),
    "flink": ("-D", "+I", "-U", "+U"),
    "debezium": ("d", "c", "u", "u"),
}
"""The names of a delete, an insert, and the two halves of an update."""


class Lines(NamedTuple):
    """Deletes, then inserts: rows, times and bounds, and the order of the output."""

    rows: pa.RecordBatch
    positive: Bools
    time: Ints
    to: Ints
    order: Ints
    pair: Ints
    """The number of the update to which a line belongs, -1 if none."""

    @property
    def paired(self) -> Bools:
        halves: Bools = self.pair >= 0
        return halves


def check_profile(name: str) -> str:
    """Return the name of a profile. Raise an error if there is no such profile."""
    if name not in PROFILES:
        raise QueryError(
            "SW-362", f"there is no changelog profile '{name}'", expected=", ".join(PROFILES), hint="choose one of them"
        )
    return name


def check_upserts(upserts: bool, key: Sequence[str] | None) -> bool:
    """Return `upserts`. Raise an error if there is no key, which tells the row that an upsert replaces."""
    if upserts and key is None:
        raise QueryError(
            "SW-364",
            "changelog.upserts needs a primary key, and the result of this query has none",
            expected="a query whose rows have a key: GROUP BY, DISTINCT, or a PRIMARY KEY of its streams or view",
            hint="leave changelog.upserts out, or select the columns of the key as well",
        )
    return upserts


def written(log: TupleLog, profile: str, key: Sequence[str] | None, net: bool, upserts: bool = False) -> pa.RecordBatch:
    """Return the rows of a changelog in a profile."""
    lines = _lines(log, key, net, pairs=upserts or profile != "changes")
    if profile == "debezium":
        return _debezium(lines)
    if not upserts:
        return _plain(lines, profile)
    stays = lines.order[~(lines.paired & ~lines.positive)[lines.order]]
    return _plain(lines._replace(order=stays), "flink" if profile == "flink" else "updates")


def _lines(log: TupleLog, key: Sequence[str] | None, net: bool, pairs: bool) -> Lines:
    rows = stacked([log.ended.rows, log.born.rows])
    positive = np.arange(rows.num_rows) >= len(log.at)
    time = np.concatenate([log.at, log.born.start])
    to = np.concatenate([log.at, log.born.end])
    known = None if key is None or not all(name in rows.schema.names for name in key) else list(key)
    code = np.zeros(len(time), np.int64)
    if known and (net or pairs) and len(time):
        code = _codes([normal(rows.column(name)) for name in known], net)
    order = np.lexsort((to, positive, time, code) if net else (to, positive, time))
    pair = np.full(len(time), -1)
    if pairs and known is not None and len(time):
        pair = _paired(code, np.zeros_like(time) if net else time, positive)
    return Lines(rows, positive, time, to, order, pair)


def _codes(columns: Sequence[pa.Array], ordered: bool) -> Ints:
    """Return a number for each key, in key order if `ordered`. An integer key is its own number."""
    if len(columns) == 1 and pa.types.is_integer(columns[0].type) and not columns[0].null_count:
        return ints(columns[0])
    code, first = dense(columns)
    return ranked([column.take(pa.array(first)) for column in columns])[code] if ordered else code


def _paired(code: Ints, time: Ints, positive: Bools) -> Ints:
    """Return for each line the number of the update to which it belongs, -1 if none."""
    same, _ = dense([pa.array(code), pa.array(time)])
    size = int(same.max()) + 1
    both = (np.bincount(same[positive], minlength=size) == 1) & (np.bincount(same[~positive], minlength=size) == 1)
    return np.where(both[same], same, -1)


def _plain(lines: Lines, profile: str) -> pa.RecordBatch:
    names = pa.array(NAMES[profile])
    kind = lines.positive.astype(np.int64) + 2 * lines.paired
    place = pa.array(lines.order)
    head = {
        OP if profile == "flink" else TYPE: names.take(pa.array(kind[lines.order])),
        FROM: moments(lines.time[lines.order]),
        TO: moments(lines.to[lines.order], lines.to[lines.order] < LATEST),
    }
    rows = lines.rows.take(place)
    _check_free(head, rows.schema.names)
    return table({**head, **dict(zip(rows.schema.names, rows.columns, strict=True))})


def _check_free(head: Collection[str], names: Iterable[str]) -> None:
    """Raise an error if a column of the query has the name of a changelog column; sinks often ignore case."""
    for name in names:
        if name.lower() in head:
            raise QueryError(
                "SW-365",
                f"a column of the query has the name of one that a changelog has itself: {name}",
                expected=f"no column named {', '.join(head)}",
                hint="give that column another name with AS",
            )


def _debezium(lines: Lines) -> pa.RecordBatch:
    """Return the rows of the profile `debezium`: an update is its insert, with the deleted row as `before`."""
    images = pa.StructArray.from_arrays(lines.rows.columns, fields=list(lines.rows.schema))
    order, mate = lines.order, np.arange(len(lines.time))
    before, after = (np.flatnonzero(lines.paired & (lines.positive == side)) for side in (False, True))
    place = np.full(int(lines.pair.max(initial=-1)) + 1, -1)
    place[lines.pair[before]] = before
    mate[after] = place[lines.pair[after]]
    stays = order[~(lines.paired & ~lines.positive)[order]]
    old, new = ~lines.positive | lines.paired, lines.positive
    kind = np.where(lines.paired, 2, lines.positive.astype(np.int64))[stays]
    return table(
        {
            OP: pa.array(NAMES["debezium"]).take(pa.array(kind)),
            "before": images.take(pa.array(mate[stays], mask=~old[stays])),
            "after": images.take(pa.array(stays, mask=~new[stays])),
            FROM: moments(lines.time[stays]),
            TO: moments(lines.to[stays], lines.to[stays] < LATEST),
        }
    )
