"""A file whose pipelines share a view, and another run that reads what the first one kept."""

import re
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from slackwater.app.live.watch import Watch
from slackwater.app.plans.explain import write_plans
from slackwater.app.plans.formats import Format
from slackwater.app.run import Conditions, run
from slackwater.errors import RunError
from slackwater.lang import parse_script
from slackwater.spark.run.views.folder import open_folder
from slackwater.spark.store import Location

ROWS = 4_000
# Nothing is late: 5,000 rows are held before any is released.
DECLARED = """
CREATE STREAM Traffic (vehID INT, segment INT, speed DOUBLE, timestamp TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (rate '1000', rows '4000', mean '0.1 seconds', pace 'max', batch '2 seconds')
TIMESTAMP BY timestamp ARRIVAL BY received;
CREATE VIEW Counts AS SELECT segment, COUNT(*) AS n
    FROM Traffic [RANGE 1 second SLIDE 1 second SLACK 5000] GROUP BY segment;
"""
BOTH = """
CREATE SINK totals USING parquet OPTIONS (path '{folder}/totals');
CREATE SINK fewer USING parquet OPTIONS (path '{folder}/fewer');
INSERT INTO totals SELECT SUM(n) AS n, window_end FROM Counts [RANGE 2 seconds SLIDE 2 seconds];
INSERT INTO fewer SELECT segment, COUNT(*) AS n
    FROM Traffic [RANGE 1 second SLIDE 2 seconds SLACK 5000] GROUP BY segment;
"""
ONE = """
CREATE SINK later USING parquet OPTIONS (path '{folder}/later');
INSERT INTO later SELECT segment, SUM(n) AS n FROM Counts [RANGE 1 second SLIDE 1 second] GROUP BY segment;
"""


def ran(text: str, folder: Path, checkpoint: str, views: Path | None = None) -> str:
    console = Console(file=StringIO(), width=200, highlight=False)
    asked = Conditions(folder / checkpoint, "local[2]", available_now=True, views=views)
    run(parse_script(DECLARED + text.format(folder=folder)), asked, Watch(console))
    return console.file.getvalue()


def total(spark, path: Path, condition: str = "true") -> int:
    return int(spark.read.parquet(str(path)).where(condition).selectExpr("sum(n)").first()[0])


def test_a_view_is_computed_once_and_read_by_other_pipelines_and_other_runs(spark, tmp_path: Path):
    shown = ran(BOTH, tmp_path, "first")
    log = tmp_path / "first.views" / "counts" / "log"
    assert total(spark, log) == total(spark, tmp_path / "totals") == ROWS
    even = "unix_micros(__slackwater_row_time) % 2000000 = 1999999"
    assert 0 < total(spark, tmp_path / "fewer") == total(spark, log, even) < ROWS
    assert len(re.findall(f"Traffic: {ROWS:,} rows in", shown)) == 1
    assert "view Counts is kept by this run" in shown
    assert re.search(r"fewer batch 0: [1-9][\d,]* rows in, .* from view Counts", shown), shown
    files = sorted(log.iterdir())
    (view,) = parse_script(DECLARED).views
    with open_folder(Location(str(tmp_path / "first.views")), view).claim():
        other = ran(ONE, tmp_path, "second", tmp_path / "first.views")
    assert "view Counts is kept by another run" in other
    assert "later reads view Counts" in other
    assert total(spark, tmp_path / "later") == ROWS
    assert sorted(log.iterdir()) == files
    assert "Traffic" not in other


def test_a_view_that_is_defined_otherwise_is_refused(spark, tmp_path: Path):
    (view,) = parse_script(DECLARED).views
    open_folder(Location(str(tmp_path / "views")), view)
    changed = DECLARED.replace("RANGE 1 second", "RANGE 3 seconds")
    asked = Conditions(tmp_path / "check", "local[2]", available_now=True, views=tmp_path / "views")
    with pytest.raises(RunError) as caught:
        run(parse_script(changed + ONE.format(folder=tmp_path)), asked, Watch(Console(file=StringIO())))
    assert caught.value.code == "SW-512"
    assert "3 seconds" in str(caught.value)


def test_explain_says_who_reads_a_view(spark):
    script = parse_script(DECLARED + BOTH.format(folder="out"))
    logical, physical = (write_plans(script, Format.TEXT, physical=each) for each in (False, True))
    for text in (logical, physical):
        assert "totals\nreads view Counts\n" in text
        assert "fewer\nreads view Counts\n" in text
        assert "view Counts\nkept by a query of its own" in text
    assert "what the view's own query has written" in physical
