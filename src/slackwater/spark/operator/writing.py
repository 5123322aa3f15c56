"""Say how a changelog is written, and write one whose columns Spark has changed: net change, then profile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from slackwater.engine.changelog.log import LOG_COLUMNS, SIGN, TupleLog, compressed, log_of
from slackwater.engine.changelog.profiles import PROFILES, check_profile, check_upserts, written
from slackwater.spark.operator.blobs import Mapped
from slackwater.spark.options import CHANGELOG, Option, OptionCodes, OptionKind, Options, OptionTable

NET, PROFILE, UPDATES, UPSERTS = (
    "changelog.netchanges",
    "changelog.profile",
    "changelog.updates",
    "changelog.upserts",
)
"""The options of a sink that say how a changelog is written, in lower case: Spark's options have none."""
TABLE = OptionTable(
    "changelog",
    (
        Option(
            "changelog.netChanges", OptionKind.FLAG, "true", "Whether a batch tells the net change of each row alone."
        ),
        Option("changelog.profile", OptionKind.TEXT, "changes", "How a change is written.", PROFILES),
        Option(
            "changelog.updates", OptionKind.FLAG, "false", "Whether a delete and an insert of a key are one update."
        ),
        Option("changelog.upserts", OptionKind.FLAG, "false", "Whether an update tells the new row alone."),
    ),
    OptionCodes("SW-463", "SW-459"),
)


@dataclass(frozen=True, slots=True)
class Form:
    """How a changelog is written: each batch as its `net` change or in full, in which profile, updates as one row."""

    net: bool = True
    profile: str = "changes"
    upserts: bool = False


DEFAULT = Form()


def form_of(options: Mapping[str, str]) -> tuple[Form, dict[str, str]]:
    """Return how a sink wants its changelog, and its other options.

    >>> form_of({"path": "out", "changelog.profile": "flink", "changelog.netChanges": "false"})
    (Form(net=False, profile='flink', upserts=False), {'path': 'out'})
    """
    own = {name: value for name, value in options.items() if name.lower().startswith(CHANGELOG)}
    rest = {name: value for name, value in options.items() if name not in own}
    found = Options(TABLE, own, "the sink of a changelog")
    profile = "updates" if found[UPDATES] else found[PROFILE]
    return Form(found[NET], check_profile(profile), found[UPSERTS]), rest


def to_profile(schema: pa.Schema, names: Sequence[str], form: Form, key: Sequence[str] | None) -> Mapped:
    """Return a function for `mapInArrow` that turns rows of changelogs into structs in the columns of a profile.

    The input has the columns LOG_COLUMNS and `names`. `schema` is that of the result: the column of structs first, then
    those of other outputs, whose rows pass unchanged.
    """

    def mapped(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        given = list(batches)
        if not given:
            return
        rows = pa.concat_batches(given)
        ours = rows.column(SIGN).is_valid()
        own = rows.filter(ours).select([*LOG_COLUMNS, *names])
        log, now = log_of(own)
        lines = _lines(compressed(log, now) if form.net else log, form, key)
        yield _beside(pa.StructArray.from_arrays(lines.columns, names=lines.schema.names), schema)
        others = rows.filter(pa.compute.invert(ours))
        if others.num_rows:
            columns = [pa.nulls(others.num_rows, schema.field(0).type)]
            columns += [others.column(each.name).cast(each.type) for each in list(schema)[1:]]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    return mapped


def _beside(structs: pa.StructArray, schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch with the column of the changelog; all other columns are NULL."""
    nulls = [pa.nulls(len(structs), each.type) for each in list(schema)[1:]]
    return pa.RecordBatch.from_arrays([structs.cast(schema.field(0).type), *nulls], schema=schema)


def profile_schema(columns: pa.Schema, form: Form, key: Sequence[str] | None) -> pa.Schema:
    """Return the columns of a changelog in the profile of a form."""
    none = pa.RecordBatch.from_arrays(
        [*(pa.array(np.empty(0, np.int64)) for _ in LOG_COLUMNS), *(pa.array([], each.type) for each in columns)],
        names=[*LOG_COLUMNS, *columns.names],
    )
    return _lines(log_of(none)[0], form, key).schema


def _lines(log: TupleLog, form: Form, key: Sequence[str] | None) -> pa.RecordBatch:
    """Return the changes of a log in the profile of a form."""
    return written(log, form.profile, key, form.net, check_upserts(form.upserts, key))
