"""The side outputs of a pipeline: late, rejected and refused rows, readable as streams."""

from __future__ import annotations

from functools import reduce

from slackwater.algebra.catalog import LATE, REFUSED, REJECTED, SIDES, Catalog, Pipeline, StreamDef
from slackwater.algebra.nodes import Scan, walk
from slackwater.algebra.schema import Field

MORE = (Field("late_by", "bigint"), Field("punctuation", "timestamp"), Field("windows_missed", "bigint"))
"""Columns that are added to a late row."""
REFUSAL = Field("refusal", "string")
"""The column that is added to a refused row: the reason."""
REASONS = (Field("reason", "string"), Field("raw", "string"), Field("rejected_at", "timestamp"))


def side_streams(pipeline: Pipeline) -> list[StreamDef]:
    """Return the side streams of every stream that a pipeline reads; none if it reads a side stream itself.

    They are named `pipeline$late`, or `pipeline$stream$late` if the pipeline reads several streams, because each stream
    has its own columns and its own punctuation. A stream with CHANGELOG BY has refused rows, too.
    """
    scans = {scan.stream: scan for scan in walk(pipeline.plan) if isinstance(scan, Scan)}
    if any(map(is_side, scans)):
        return []
    several = len(scans) > 1
    return [
        side(f"{pipeline.name}${scan.stream}" if several else pipeline.name, pipeline, scan)
        for scan in scans.values()
        for side in ((_late, _rejected, _refused) if scan.change_type else (_late, _rejected))
    ]


def with_sides(catalog: Catalog, pipeline: Pipeline) -> Catalog:
    """Return the catalog with the side streams of a pipeline."""
    return reduce(Catalog.with_stream, side_streams(pipeline), catalog)


def is_side(stream: str) -> bool:
    """Return whether a stream is a side output of a pipeline.

    >>> is_side("tolls$late"), is_side("tolls$Traffic$rejected"), is_side("tolls")
    (True, True, False)
    """
    _, dollar, side = stream.rpartition("$")
    return bool(dollar) and side in SIDES


def _late(name: str, pipeline: Pipeline, scan: Scan) -> StreamDef:
    """Return the stream of late rows: how late each row was and how many windows it missed."""
    clocks = scan.event_time, scan.arrival, scan.source
    return StreamDef(f"{name}${LATE}", scan.fields + MORE, LATE, _origin(pipeline, scan), *clocks)


def _rejected(name: str, pipeline: Pipeline, scan: Scan) -> StreamDef:
    """Return the stream of rejected rows: the reason, the text of the row, and when it was rejected."""
    return StreamDef(f"{name}${REJECTED}", REASONS, REJECTED, _origin(pipeline, scan), "rejected_at")


def _refused(name: str, pipeline: Pipeline, scan: Scan) -> StreamDef:
    """Return the stream of refused changes and why each was refused. It is read as plain rows, not as a changelog."""
    fields = (*scan.fields, REFUSAL)
    return StreamDef(f"{name}${REFUSED}", fields, REFUSED, _origin(pipeline, scan), scan.event_time, scan.arrival)


def _origin(pipeline: Pipeline, scan: Scan) -> dict[str, str]:
    return {"pipeline": pipeline.name, "stream": scan.stream}
