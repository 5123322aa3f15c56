"""The progress record of a batch as data for JSON, for the log, the dashboard, the metrics and notebooks."""

from __future__ import annotations

from typing import Any

from slackwater.spark.run.progress import ControlProgress, Progress

VERSION = 1
ACCOUNTED = (
    "rows", "on_time", "late", "lost", "suspect", "held", "held_time", "punctuation", "newest", "clock", "silence",
    "capped", "capped_time",
)  # fmt: skip


def record_of(progress: Progress) -> dict[str, Any]:
    """Return the record of a batch. Counts are of the batch, but those in `streams` of all batches; times are in ms.

    `hold` is how long rows waited, from their arrival until the punctuation passed them: `mean` is exact, `p50` and
    `p99` are estimated from the ages at which rows were released and the recent delays. `delays` of a stream are
    counts by bucket: bucket 0 is below 1 ms, bucket i ends at 2 ** (i / 8) ms. `holds` is a sentence on why its
    punctuation is not further ahead.
    """
    streams = [_stream(each) for each in progress.controls]
    return {
        "kind": "batch",
        "version": VERSION,
        "pipeline": progress.pipeline,
        "run": progress.run,
        "batch": progress.batch,
        "at": progress.at,
        "rows_in": progress.rows_in,
        "rows_out": progress.rows_out,
        "on_time": progress.on_time,
        "late": progress.late,
        "lost": progress.lost,
        "rejected": progress.rejected,
        "suspect": progress.suspect,
        "refused": progress.refused,
        "rows_read": progress.rows_read,
        "held": progress.held,
        "punctuation": progress.punctuation,
        "newest": max((each.account.newest for each in progress.controls), default=0),
        "clock": max((each.account.clock + each.account.silence for each in progress.controls), default=0),
        "ratio": progress.ratio,
        "allowed": min((each.dratio for each in progress.controls if each.dratio is not None), default=None),
        "hold": {
            "p50": _longest(progress, "hold_p50"),
            "mean": round(progress.recent_hold, 1),
            "p99": _longest(progress, "hold_p99"),
        },
        "seconds": progress.seconds,
        "parts": dict(progress.parts),
        "state_bytes": progress.state_bytes,
        "state_rows": progress.state_rows,
        "streams": streams,
    }


def _stream(control: ControlProgress) -> dict[str, Any]:
    account = control.account
    return {
        "stream": control.stream,
        "allowed": control.dratio,
        **{name: getattr(account, name) for name in ACCOUNTED},
        "rejected": account.untimed,
        "closed": control.closed,
        "holds": control.holds,
        "delays": control.seen.get("delays", [[], []]),
        "late_rows": control.seen.get("late_rows", []),
        "against": control.seen.get("against", 0),
    }


def _longest(progress: Progress, which: str) -> float:
    """Return the longest hold of all streams."""
    return max((each.seen.get(which, 0.0) for each in progress.controls), default=0.0)
