"""The metrics of all pipelines in Prometheus' text format. `DOCUMENTED` is also the source of their documentation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector

from slackwater.app.monitor.board import Board, Followed
from slackwater.app.monitor.delays import PER_OCTAVE, upper

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
COUNTER, GAUGE = CounterMetricFamily, GaugeMetricFamily
PER_STREAM = ("pipeline", "stream")

DOCUMENTED: Mapping[str, tuple[Callable[..., Metric], str, tuple[str, ...]]] = {
    "slackwater_rows": (COUNTER, "Rows read, by outcome: on_time, late, rejected.", (*PER_STREAM, "outcome")),
    "slackwater_lost_rows": (COUNTER, "Late rows that missed at least one window.", PER_STREAM),
    "slackwater_suspect_rows": (COUNTER, "Rows stamped further than SKEW after their arrival.", PER_STREAM),
    "slackwater_output_rows": (COUNTER, "Rows written to the sink.", ("pipeline",)),
    "slackwater_batches": (COUNTER, "Micro-batches that ended.", ("pipeline",)),
    "slackwater_late_ratio": (GAUGE, "Share of late rows since the checkpoint began.", PER_STREAM),
    "slackwater_late_ratio_allowed": (GAUGE, "Share of late rows that the query allows (DRATIO).", PER_STREAM),
    "slackwater_hold_seconds": (GAUGE, "How long rows waited, by stat: mean, p50, p99.", ("pipeline", "stat")),
    "slackwater_held_rows": (GAUGE, "Rows that wait for the punctuation now.", PER_STREAM),
    "slackwater_watermark_lag_seconds": (GAUGE, "From the punctuation to the latest arrival.", PER_STREAM),
    "slackwater_newest_event_lag_seconds": (GAUGE, "From the newest event time to the latest arrival.", PER_STREAM),
    "slackwater_batch_duration_seconds": (GAUGE, "Time of the last batch, by part.", ("pipeline", "part")),
    "slackwater_last_batch_timestamp_seconds": (GAUGE, "When the last batch ended.", ("pipeline",)),
    "slackwater_state_bytes": (GAUGE, "Memory of the state.", ("pipeline",)),
    "slackwater_state_rows": (GAUGE, "Rows in the state of Spark's operators.", ("pipeline",)),
    "slackwater_pipeline_up": (GAUGE, "1 while the pipeline runs, else 0.", ("pipeline",)),
}  # fmt: skip
"""Kind, meaning and labels of each metric, by name. Prometheus adds `_total` to counters."""
DELAY = "slackwater_delay_seconds"
DELAY_HELP = "Delay of rows from their event time to their arrival, since the run began."


def scrape(board: Board) -> bytes:
    """Return all metrics in Prometheus' text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Metrics(board))
    return generate_latest(registry)


class _Metrics(Collector):
    def __init__(self, board: Board) -> None:
        self.board = board

    def collect(self) -> Iterator[Metric]:
        """Yield every metric with its values for all pipelines."""
        families: dict[str, Any] = {
            name: kind(name, said, labels=labels) for name, (kind, said, labels) in DOCUMENTED.items()
        }
        delays = HistogramMetricFamily(DELAY, DELAY_HELP, labels=["pipeline"])
        for followed in self.board.pipelines.values():
            for name, labels, value in _values(followed):
                families[name].add_metric(labels, value)
            if followed.delays.all:
                delays.add_metric([followed.name], *_histogram(followed))
        yield from families.values()
        yield delays


Value = tuple[str, list[str], float]


def _values(followed: Followed) -> Iterator[Value]:
    name, record, history = followed.name, followed.record, followed.history
    yield "slackwater_pipeline_up", [name], float(followed.state in ("starting", "running"))
    if not record:
        return
    yield "slackwater_output_rows", [name], history.total("rows_out")
    yield "slackwater_batches", [name], record["batch"] + 1
    yield "slackwater_last_batch_timestamp_seconds", [name], record["at"] / 1_000
    yield "slackwater_state_bytes", [name], record["state_bytes"]
    yield "slackwater_state_rows", [name], record["state_rows"]
    for stat, value in record["hold"].items():
        yield "slackwater_hold_seconds", [name, stat], value / 1_000
    for part, value in record["parts"].items():
        yield "slackwater_batch_duration_seconds", [name, part], value / 1_000
    for stream in record["streams"]:
        yield from _of_stream([name, stream["stream"]], stream)


def _of_stream(labels: list[str], stream: Mapping[str, Any]) -> Iterable[Value]:
    for outcome in ("on_time", "late", "rejected"):
        yield "slackwater_rows", [*labels, outcome], stream[outcome]
    if "lost" in stream:
        yield "slackwater_lost_rows", labels, stream["lost"]
    yield "slackwater_suspect_rows", labels, stream["suspect"]
    yield "slackwater_late_ratio", labels, stream["late"] / stream["rows"] if stream["rows"] else 0.0
    if stream["allowed"] is not None:
        yield "slackwater_late_ratio_allowed", labels, stream["allowed"]
    yield "slackwater_held_rows", labels, stream["held"]
    clock = stream["clock"] + stream["silence"]
    for metric, time in (("watermark", stream["punctuation"]), ("newest_event", stream["newest"])):
        if time and clock and not stream.get("closed"):
            yield f"slackwater_{metric}_lag_seconds", labels, (clock - time) / 1_000


def _histogram(followed: Followed) -> tuple[list[tuple[str, float]], float]:
    """Return the delays in buckets of factor two, and their approximate sum."""
    counts = followed.delays.all
    octaves = range(0, max(counts) // PER_OCTAVE + 2)
    edges = [
        (octave, sum(rows for bucket, rows in counts.items() if bucket <= octave * PER_OCTAVE)) for octave in octaves
    ]
    buckets = [(repr(upper(octave * PER_OCTAVE)), float(rows)) for octave, rows in edges]
    return [*buckets, ("+Inf", float(sum(counts.values())))], sum(upper(each) * rows for each, rows in counts.items())
