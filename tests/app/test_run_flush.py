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

from slackwater.app.run import Conditions, run
from slackwater.app.watch import Watch
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
    """How many rows the windows held that a run gave out."""

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


@pytest.mark.parametrize("query", [PER_WINDOW, PER_ROW], ids=["native", "fused"])
def test_a_run_over_what_is_there_closes_every_window(total, query):
    assert total(query, available_now=True) == ROWS


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
CREATE STREAM Readings (k INT, ts TIMESTAMP, at TIMESTAMP) USING json OPTIONS (path '{folder}/in')
TIMESTAMP BY ts ARRIVAL BY at;
CREATE SINK native USING parquet OPTIONS (path '{folder}/native');
CREATE SINK fused USING parquet OPTIONS (path '{folder}/fused');
INSERT INTO native SELECT COUNT(*) AS n, window_end FROM Readings [RANGE 10 seconds SLIDE 10 seconds];
INSERT INTO fused SELECT COUNT(*) AS n FROM Readings [RANGE 1 TUPLE];
"""


@pytest.mark.parametrize("ahead", ["2024-01-01 13:00:00", "9999-12-31 23:59:59"])
def test_a_flush_closes_the_windows_of_rows_from_the_future_too(spark, tmp_path: Path, ahead: str):
    honest = [f"2024-01-01 12:00:0{second}" for second in range(5)]
    rows = [{"k": 1, "ts": each, "at": each} for each in honest] + [{"k": 2, "ts": ahead, "at": honest[3]}]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "rows.json").write_text("\n".join(map(json.dumps, rows)))
    watch = Watch(Console(file=StringIO(), width=200))
    for _ in range(2):  # the second is warned of what the first closed
        conditions = Conditions(tmp_path / "check", "local[2]", available_now=True)
        run(parse_script(AHEAD.format(folder=tmp_path)), conditions, watch)
    native, fused = (spark.read.parquet(str(tmp_path / name)) for name in ("native", "fused"))
    assert sorted(row.n for row in native.select("n").collect()) == [1, 5]
    assert fused.count() == 6
    assert "closed every window" in watch.console.file.getvalue()  # type: ignore[attr-defined]
