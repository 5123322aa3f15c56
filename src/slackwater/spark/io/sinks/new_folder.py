"""The check that a new run does not write files into the folder of another run.

Batch numbers of a new run begin at 0 again. Spark's file sink skips every batch whose number its log contains. Our own
file sink overwrites a folder `batch=N`, and the folders with higher numbers stay.
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
"""Matches the entries in the log of Spark's file sink. The log exists, without entries, before the first batch."""


def admit_sinks(session: SparkSession, pipelines: Iterable[Pipeline], checkpoint: Location) -> None:
    """Raise an error if a sink of a new query has files of another run in its path.

    Spark logs a batch in `offsets` before it computes the batch. If the checkpoint has an entry there, the files may
    belong to it; if not, they cannot.
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
    """Return the names in a folder of any file system; none if there is no such folder."""
    return [each.name for each in locate(path, session).list()]


def _refused(sink: SinkDef, checkpoint: Location) -> RunError:
    path = path_of(sink.options)
    return RunError(
        "SW-515",
        f"the sink '{sink.name}' has batches of another run in '{path}', and this one begins anew",
        expected=f"a path without batches, or the checkpoint that belongs to them ('{checkpoint}' has no batch)",
        hint="give the sink another path, delete its folder, or go on with the --checkpoint that it was written with",
    )
