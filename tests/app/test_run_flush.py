"""The end of a stream, and its silence: windows that no more rows would close."""

import json
import os
import re
import signal
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from slackwater.app.live.watch import Watch
from slackwater.app.run import Conditions, run
from slackwater.lang import parse_script
from slackwater.spark.run.progress import Progress

ROWS = 4_000
STREAM = f"""
CREATE STREAM Traffic (vehID INT, segment INT, speed DOUBLE, timestamp TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (rate '1000', rows '{ROWS}', mean '0.1 seconds', pace 'max', batch '2 seconds')
TIMESTAMP BY timestamp ARRIVAL BY received;
CREATE SINK counts USING parquet OPTIONS (path '{{path}}');
"""
# Nothing is late: 5,000 rows are held before any is released.
PER_WINDOW = "SELECT COUNT(*) AS n, window_end FROM Traffic [RANGE 1 second SLIDE 1 second SLACK 5000{idle}]"
PER_ROW = "SELECT COUNT(*) AS n FROM Traffic [RANGE 100 TUPLES, FREQUENCY 100 TUPLES SLACK 5000{idle}]"


class Satisfied(Watch):
    """Whoever watches what would go on for long presses Ctrl-C once all is there."""

    def __init__(self, is_enough: Callable[[], bool]) -> None:
        super().__init__(Console(file=StringIO(), width=200))
        self.is_enough = is_enough

    def news(self, records: Sequence[Progress]) -> None:
        super().news(records)
        if records and self.is_enough() and not self.stopped:
            self.stopped = True
            os.kill(os.getpid(), signal.SIGINT)

    stopped = False


@pytest.fixture
def total(spark: SparkSession, tmp_path: Path) -> Callable[..., int]:
    """Return a function that runs a query and returns the number of rows in its emitted windows."""

    def ran(query: str, idle: str = "", told: list[str] | None = None, **conditions: object) -> int:
        sink = tmp_path / "out"
        script = parse_script(STREAM.format(path=sink) + f"INSERT INTO counts {query.format(idle=idle)};")
        asked = Conditions(tmp_path / "check", "local[2]", **conditions)  # type: ignore[arg-type]
        watch = Satisfied(lambda: asked.seconds is not None and counted(sink) == ROWS)
        run(script, asked, watch)
        if told is not None:
            told.append(watch.console.file.getvalue())  # type: ignore[attr-defined]
        return counted(sink)

    def counted(sink: Path) -> int:
        if not (sink / "_spark_metadata").exists():
            return 0
        return int(spark.read.schema("n long").parquet(str(sink)).selectExpr("sum(n)").first()[0] or 0)

    return ran


def test_a_run_over_what_is_there_closes_every_window(total):
    """The fused operator does; the next test shows the same of native windows."""
    assert total(PER_ROW, available_now=True) == ROWS


@pytest.mark.slow
def test_windows_stay_open_if_asked_and_a_flush_later_closes_them_and_runs_after_it_are_warned(total):
    shown: list[str] = []
    assert total(PER_WINDOW, available_now=True, flush=False, told=shown) == 0
    assert total(PER_WINDOW, available_now=True, told=shown) == ROWS
    assert total(PER_WINDOW, available_now=True, told=shown) == ROWS
    warning = r"warning: the run of counts before .* rows of Traffic before \d{4}-.* are late .* --no-flush"
    assert [bool(re.search(warning, each)) for each in shown] == [False, False, True], shown


def test_a_stream_that_falls_silent_is_waited_for_as_long_as_stated(total):
    assert total(PER_WINDOW, " IDLE 1 second", seconds=60) == ROWS


AHEAD = """
-- The first two pipelines have windows of suspect rows, the third a table with these rows.
CREATE STREAM Readings (k INT, ts TIMESTAMP, at TIMESTAMP) USING json OPTIONS (path '{folder}/in')
TIMESTAMP BY ts ARRIVAL BY at;
CREATE SINK native USING parquet OPTIONS (path '{folder}/native');
CREATE SINK fused USING parquet OPTIONS (path '{folder}/fused');
INSERT INTO native SELECT COUNT(*) AS n, window_end FROM Readings [RANGE 10 seconds SLIDE 10 seconds];
INSERT INTO fused SELECT COUNT(*) AS n FROM Readings [RANGE 1 TUPLE];
CREATE SINK live USING postgres OPTIONS ({database});
INSERT INTO live SELECT k, COUNT(*) AS n FROM Readings [RANGE 1 hour] GROUP BY k EMIT CHANGES;
"""


def file_of(folder: Path, name: str, rows: Sequence[tuple[int, str, str]]) -> None:
    lines = [json.dumps({"k": k, "ts": ts, "at": f"2024-01-01 {at}"}) for k, ts, at in rows]
    (folder / "in").mkdir(exist_ok=True)
    (folder / "in" / name).write_text("\n".join(lines))


@pytest.mark.slow
def test_a_flush_releases_rows_from_the_future_and_leaves_the_clock_with_the_honest_ones(spark, database, tmp_path):
    script = parse_script(AHEAD.format(folder=tmp_path, database=database.clause))
    conditions = Conditions(tmp_path / "check", "local[2]", available_now=True)

    def finished() -> tuple[str, list[tuple[int, str]], int, list[tuple[int, int]]]:
        watch = Watch(Console(file=StringIO(), width=200))
        run(script, conditions, watch)
        native, fused = (spark.read.parquet(str(tmp_path / name)) for name in ("native", "fused"))
        windows = sorted((row.n, row.end) for row in native.selectExpr("n", "string(window_end) AS end").collect())
        live = sorted(database.rows("SELECT k, n FROM live"))
        return watch.console.file.getvalue(), windows, fused.count(), live  # type: ignore[attr-defined]

    day = "2024-01-01"
    honest = [(k, f"{day} {time}", time) for time in ("11:10:00", "12:00:03") for k in range(4, 8)]
    honest += [(1, f"{day} 12:00:0{second}", f"12:00:0{second}") for second in range(5)]
    ahead = [(2, f"{day} 13:00:00", "12:00:03"), (3, "9999-12-31 23:59:55", "12:00:03")]
    file_of(tmp_path, "1.json", [*honest, *ahead])
    _, windows, rows, live = finished()
    suspect = [(1, "+10000-01-01 00:00:00"), (1, f"{day} 13:00:10")]
    before = [(4, f"{day} 11:10:10"), (9, f"{day} 12:00:10")]
    assert windows == [*suspect, *before]
    wanted = [(1, 5), (2, 1), (3, 1), (4, 2), (5, 2), (6, 2), (7, 2)]
    assert (rows, live) == (15, wanted), "of the end of the input, with every row"
    # Honest rows of the next hour are not late, though a row from it was answered already.
    file_of(tmp_path, "2.json", [(1, f"{day} 12:00:30", "12:00:31"), (1, f"{day} 12:30:00", "12:30:00")])
    told, windows, rows, live = finished()
    assert re.search(r"rows of Readings before 2024-01-01 12:00:\d\d", told)
    assert windows == sorted([*suspect, (1, f"{day} 12:00:40"), (1, f"{day} 12:30:10"), *before])
    wanted = [(1, 7), (2, 1), (3, 1), (4, 1), (5, 1), (6, 1), (7, 1)]
    assert (rows, live) == (17, wanted), "the rows of 11:10 have left, in every bucket"
    assert "17 rows in = 17 on time + 0 late" in told
