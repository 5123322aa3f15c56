"""What of a pipeline can be read beside its result: late, rejected and refused rows, as streams of their own."""

from __future__ import annotations

from functools import reduce

from slackwater.algebra.catalog import LATE, REFUSED, REJECTED, SIDES, Catalog, Pipeline, StreamDef
from slackwater.algebra.nodes import Scan, walk
from slackwater.algebra.schema import Field

MORE = (Field("late_by", "bigint"), Field("punctuation", "timestamp"), Field("windows_missed", "bigint"))
"""What is told of a late row beside its own columns."""
REFUSAL = Field("refusal", "string")
"""What is told of a refused row beside its own columns: why."""
REASONS = (Field("reason", "string"), Field("raw", "string"), Field("rejected_at", "timestamp"))


def side_streams(pipeline: Pipeline) -> list[StreamDef]:
    """The streams of late and of rejected rows of every stream that a pipeline reads, unless that is one of them.

    They are named `pipeline$late`, or `pipeline$stream$late` where the pipeline reads several: each has its own
    columns, and its own punctuation. A stream with CHANGELOG BY has refused rows, too.
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
    """The catalog with the streams of late, rejected and refused rows that a pipeline gives."""
    return reduce(Catalog.with_stream, side_streams(pipeline), catalog)


def is_side(stream: str) -> bool:
    """Whether a stream is a side of a pipeline.

    >>> is_side("tolls$late"), is_side("tolls$Traffic$rejected"), is_side("tolls")
    (True, True, False)
    """
    _, dollar, side = stream.rpartition("$")
    return bool(dollar) and side in SIDES


def _late(name: str, pipeline: Pipeline, scan: Scan) -> StreamDef:
    """The late rows, by how much each was, and what it missed."""
    clocks = scan.event_time, scan.arrival, scan.source
    return StreamDef(f"{name}${LATE}", scan.fields + MORE, LATE, _origin(pipeline, scan), *clocks)


def _rejected(name: str, pipeline: Pipeline, scan: Scan) -> StreamDef:
    """Why a row was rejected, its text, and when."""
    return StreamDef(f"{name}${REJECTED}", REASONS, REJECTED, _origin(pipeline, scan), "rejected_at")


def _refused(name: str, pipeline: Pipeline, scan: Scan) -> StreamDef:
    """The rows that are no change to what lived at their time, and why. Here they are rows like any other."""
    fields = (*scan.fields, REFUSAL)
    return StreamDef(f"{name}${REFUSED}", fields, REFUSED, _origin(pipeline, scan), scan.event_time, scan.arrival)


def _origin(pipeline: Pipeline, scan: Scan) -> dict[str, str]:
    return {"pipeline": pipeline.name, "stream": scan.stream}
