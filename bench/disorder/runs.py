"""What the experiments share: one run of an estimator over a stream, and the streams that the papers did not try."""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from bench import BenchmarkRefused
from slackwater.disorder import ESTIMATORS, controller
from slackwater.disorder.replay.replaying import batches_by_rows, replay
from slackwater.disorder.replay.yardsticks import best_of_constants
from slackwater.testing import disordered as streams
from slackwater.testing.disordered import DisorderedStream

ROOT = Path(__file__).resolve().parents[2]
TRACES = ROOT.parent / "shared" / "traces"
"""The folder of the recorded streams, beside the repository: `source,event_ms,arrival_ms`, gzipped CSV."""
RECORDED = ("umts-phones-1", "umts-phones-3", "windows-logs-1")
"""The recorded streams. The written figures are about all of them, so a benchmark is refused if one is missing."""

OURS = tuple(name for name in ("budget",) if name in ESTIMATORS)
"""What the papers' estimators are shown beside."""

A_SECOND = 20
"""Rows of a second in the papers' sensor streams. Ours is replayed so there: it is made for batches, and a call per
row costs it 20 times what it costs `adaptive`."""

HARD_ROWS = 40_000
HARD_BATCH = 64


@dataclass(frozen=True, slots=True)
class Run:
    """What came of one run; times in seconds. The buffer is the mean number of rows held."""

    late: float
    hold: float
    buffer: float


def run(stream: DisorderedStream, dratio: float, name: str, *, rows: int = 1, **parameters) -> Run:
    """Replays the stream in batches of so many rows through a controller with this estimator."""
    unit = {1_000: "ms", 1_000_000: "us"}[stream.ticks]
    batches = batches_by_rows(stream.event, stream.arrival, rows, stream.source)
    _, found = replay(batches, controller(dratio, name, unit=unit, **parameters))
    return Run(found.late_share, found.mean_hold / stream.ticks, found.mean_held)


def by_row(stream: DisorderedStream, dratio: float, name: str) -> Run:
    """One estimate per row, as in the papers; ours once a second."""
    return run(stream, dratio, name, rows=A_SECOND if name in OURS else 1)


def mid_stream(stream: DisorderedStream, rows: int) -> DisorderedStream:
    """So many rows from the middle of a recording, where rows of every delay arrive."""
    first = (len(stream) - rows) // 2
    return replace(stream, event=stream.event[first:][:rows], arrival=stream.arrival[first:][:rows])


def first_rows(stream: DisorderedStream, rows: int) -> DisorderedStream:
    """The start of a recording: at first only the quickest rows have arrived."""
    return replace(stream, event=stream.event[:rows], arrival=stream.arrival[:rows])


def hindsight(stream: DisorderedStream, dratio: float, *, rows: int) -> Run:
    """The best constant delay that keeps the ratio, chosen when all is over."""
    batches = batches_by_rows(stream.event, stream.arrival, rows, stream.source)
    found = best_of_constants(batches, int(dratio * len(stream))).measures
    return Run(found.late_share, found.mean_hold / stream.ticks, found.mean_held)


@cache
def hard_streams() -> tuple[DisorderedStream, ...]:
    """Heavy tails, two modes, bursts, an outage with catch-up, and the recorded streams."""
    made = (
        streams.pareto(HARD_ROWS, seed=1),
        streams.lognormal_drift(HARD_ROWS, seed=2),
        streams.two_modes(HARD_ROWS, seed=3),
        streams.bursts(HARD_ROWS, seed=4),
        streams.outage(HARD_ROWS, seed=5),
    )
    return (*made, *map(recorded, trace_files()))


def trace_files() -> list[Path]:
    """Return the files of the recorded streams; end with an error that names those that are missing."""
    files = [TRACES / f"{name}.csv.gz" for name in RECORDED]
    if missing := [file.name for file in files if not file.exists()]:
        raise BenchmarkRefused(f"recorded streams are missing in {TRACES}: {', '.join(missing)}")
    return files


def recorded(path: Path) -> DisorderedStream:
    with gzip.open(path, "rt") as lines:
        rows = list(csv.DictReader(lines))
    event, arrival = (np.array([int(row[name]) for row in rows]) for name in ("event_ms", "arrival_ms"))
    _, source = np.unique([row["source"] for row in rows], return_inverse=True)
    return DisorderedStream(path.name.removesuffix(".csv.gz"), event, arrival, source)


def elsewhere(names: dict[str, dict], dratios: tuple[float, ...]) -> dict[tuple[str, float, str], Run]:
    """Every hard stream, ratio and estimator, and the best constant, in batches of 64 rows."""
    found = {}
    for stream in hard_streams():
        for dratio in dratios:
            for label, how in names.items():
                found[stream.name, dratio, label] = run(stream, dratio, rows=HARD_BATCH, **how)
            found[stream.name, dratio, "best constant"] = hindsight(stream, dratio, rows=HARD_BATCH)
    return found
