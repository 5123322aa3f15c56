"""A run that begins anew needs a place of its own for its files: batch numbers begin anew as well.

Spark's file sink passes over every batch that its log has a number for, and writes nothing; a folder `batch=N` is
written over, and those with higher numbers stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pyspark.sql import SparkSession

from slackwater.algebra.catalog import Pipeline, SinkDef
from slackwater.errors import RunError
from slackwater.spark.batches import last_batch
from slackwater.spark.io.sinks.files import FILES, LOG, path_of
from slackwater.spark.refusals import REFUSALS, reason
from slackwater.spark.store import Location, locate

BATCH = re.compile(r"batch=\d+")
ENTRY = re.compile(r"\d+(\.compact)?")
"""Of the log of Spark's file sink, which is made, empty, before there is a batch."""


def admit_sinks(session: SparkSession, pipelines: Iterable[Pipeline], checkpoint: Location) -> None:
    """Lets the outputs of one query write where they say, or refuses: files of another run are not written among.

    Spark logs a batch in `offsets` before it computes anything of it. With an entry there, what the sinks hold may be
    this checkpoint's own; without, nothing can be.
    """
    if last_batch(checkpoint, "offsets") is not None:
        return
    for pipeline in pipelines:
        if pipeline.sink is not None and _is_files(pipeline.sink) and _holds_batches(session, pipeline.sink):
            raise _refused(pipeline.sink, checkpoint)


def _is_files(sink: SinkDef) -> bool:
    return sink.format.lower() in FILES and bool(path_of(sink.options))


def _holds_batches(session: SparkSession, sink: SinkDef) -> bool:
    path = path_of(sink.options)
    try:
        logged, folders = _listed(session, f"{path}/{LOG}"), _listed(session, path)
    except REFUSALS as cause:
        raise RunError(
            "SW-516",
            f"the path of the sink '{sink.name}' cannot be looked at: {reason(cause)}",
            hint="correct the path, or allow it to be listed: whether another run has written there must be known",
        ) from cause
    return any(map(ENTRY.fullmatch, logged)) or any(map(BATCH.fullmatch, folders))


def _listed(session: SparkSession, path: str) -> list[str]:
    """The names in a folder, wherever Spark would write it; none if there is no such folder."""
    return [each.name for each in locate(path, session).list()]


def _refused(sink: SinkDef, checkpoint: Location) -> RunError:
    path = path_of(sink.options)
    return RunError(
        "SW-515",
        f"the sink '{sink.name}' has batches of another run in '{path}', and this one begins anew",
        expected=f"a path without batches, or the checkpoint that belongs to them ('{checkpoint}' has no batch)",
        hint="give the sink another path, delete its folder, or go on with the --checkpoint that it was written with",
    )
