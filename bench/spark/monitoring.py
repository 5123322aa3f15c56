"""What watching costs: the same pipeline with the dashboard, metrics and progress log on, and without them.

Batches of 2,000 rows, in turns; while it is watched, the overview is opened and the metrics are scraped every second.
Times are the medians of warm batches; the dashboard may cost at most 5% of a batch.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import StringIO
from pathlib import Path
from threading import Event, Thread
from urllib.request import urlopen

from rich.console import Console

from bench.spark.overhead import write_files
from slackwater.app.live.watch import Watch
from slackwater.app.monitor.progress_log import ProgressLog
from slackwater.app.run import Conditions, run
from slackwater.dashboard.process import Dashboard
from slackwater.lang import parse_script
from slackwater.spark.session import local_session

ROWS, WARM, ALLOWED = 2_000, 5, 1.05
SCRIPT = """
CREATE STREAM Traffic (
    id BIGINT, name STRING, x DOUBLE, speed DOUBLE, segment BIGINT, ts TIMESTAMP, received TIMESTAMP
) USING parquet OPTIONS (path '{folder}/parquet', maxFilesPerTrigger '1') TIMESTAMP BY ts ARRIVAL BY received;
CREATE SINK out USING noop;
INSERT INTO out
SELECT segment, MAX(speed) AS top, window_end
FROM Traffic [RANGE 10 seconds SLIDE 10 seconds DRATIO 1%] GROUP BY segment;
"""


@contextmanager
def asked_for(dashboard: Dashboard) -> Iterator[None]:
    """Ask for the overview and the metrics once a second."""
    ended = Event()

    def ask() -> None:
        while not ended.wait(1.0):
            for url in (dashboard.url, dashboard.metrics_url):
                with suppress(OSError), urlopen(url, timeout=5) as answer:  # noqa: S310 (our own)
                    answer.read()

    thread = Thread(target=ask, daemon=True)
    thread.start()
    yield
    ended.set()
    thread.join()


def batches(folder: Path, *, watched: bool) -> list[float]:
    """Return the seconds of the warm batches of one run."""
    place = Path(tempfile.mkdtemp())
    seconds: list[float] = []
    with ExitStack() as stack:
        feeds = [
            lambda event: seconds.append(event["seconds"]) if event["kind"] == "batch" and event["rows_in"] else None
        ]
        if watched:
            dashboard = stack.enter_context(Dashboard(port=0))
            stack.enter_context(asked_for(dashboard))
            feeds += [dashboard.enter, stack.enter_context(ProgressLog(place / "log")).enter]
        watch = Watch(Console(file=StringIO()), quiet=True, feeds=feeds, sampled=watched)
        run(parse_script(SCRIPT.format(folder=folder)), Conditions(place / "c", "local[2]", available_now=True), watch)
    shutil.rmtree(place)
    return seconds[WARM:]


def main(files: int = 40, repeats: int = 3) -> None:
    local_session("monitoring", master="local[2]")
    found: dict[bool, list[float]] = {True: [], False: []}
    with tempfile.TemporaryDirectory() as name:
        write_files(Path(name), ROWS, files)
        for turn in range(repeats + 1):
            for watched in (True, False):
                seconds = batches(Path(name), watched=watched)
                found[watched] += seconds if turn else []  # the first turn is for warming up
    with_it, without = statistics.median(found[True]), statistics.median(found[False])
    ratio = with_it / without
    print(
        f"{ROWS:,} rows a batch, {len(found[True])} batches each: alone {without:.3f} s, watched {with_it:.3f} s: ",
        end="",
    )
    print(f"{ratio:.3f} times ({'at most' if ratio <= ALLOWED else 'MORE THAN'} {ALLOWED} is allowed)", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", type=int, default=40, help="batches of a run")
    parser.add_argument("--repeats", type=int, default=3, help="runs that count, after one that does not")
    asked = parser.parse_args()
    main(asked.files, asked.repeats)
