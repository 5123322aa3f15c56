"""One pipeline for each kind of plan, in two runs: a kept checkpoint stands between them."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
from io import StringIO
from pathlib import Path

from pyarrow import parquet
from rich.console import Console

from slackwater.app.live.watch import Watch
from slackwater.app.run import Conditions, run
from slackwater.lang import parse_script
from slackwater.spark.run.checkpoint import FORMAT

KEPT, ABOUT = ("check", "views"), "about.json"
"""What is kept: folders, without Hadoop's checksums, which it can do without, and a file about them."""
QUERIES = {
    "windows": "SELECT id, COUNT(*) AS n, AVG(v) AS mean, window_end "
    "FROM Readings [RANGE 20 seconds SLIDE 5 seconds SLACK 10] GROUP BY id",
    "pairs": "SELECT a.id, a.n, b.top FROM "
    "(SELECT id, COUNT(*) AS n FROM Readings [RANGE 10 seconds SLIDE 10 seconds DRATIO 5%] GROUP BY id) AS a, "
    "(SELECT id, MAX(v) AS top FROM Readings [RANGE 20 seconds SLIDE 10 seconds DRATIO 5%] GROUP BY id) AS b "
    "WHERE a.id = b.id",
    "tuples": "SELECT id, SUM(v) AS total "
    "FROM Readings [RANGE 5 TUPLES, FREQUENCY 3 TUPLES PARTITIONED BY id, DRATIO 5%] GROUP BY id",
    "changes": "SELECT id, COUNT(*) AS n, MAX(v) AS top "
    "FROM Readings [RANGE 15 seconds DRATIO 5%] GROUP BY id EMIT CHANGES",
    "totals": "SELECT SUM(n) AS n, window_end FROM Counts [RANGE 20 seconds SLIDE 20 seconds]",
}
DECLARED = """
CREATE STREAM Readings (id INT, v INT, ts TIMESTAMP, received TIMESTAMP)
USING json OPTIONS (path '{folder}/in', maxFilesPerTrigger '1', fileNameOnly 'true')
TIMESTAMP BY ts ARRIVAL BY received;
CREATE VIEW Counts AS SELECT id, COUNT(*) AS n FROM Readings [RANGE 5 seconds SLIDE 5 seconds DRATIO 5%] GROUP BY id;
CREATE SINK later USING parquet OPTIONS (path '{out}/later');
"""
SIDE = "INSERT INTO later SELECT id, v, late_by FROM windows$late;"
FIRST, SECOND = (0, 1), (2, 3)
"""The files of each run."""


def arrive(folder: Path, numbers: tuple[int, ...]) -> None:
    """Write files of rows, each of a minute; some rows are from far behind."""
    (folder / "in").mkdir(parents=True, exist_ok=True)
    for number in numbers:
        file = folder / "in" / f"{number}.json"
        file.write_text("\n".join(json.dumps(_row(number, place)) for place in range(120)))
        os.utime(file, (1_767_225_600 + number,) * 2)


def _row(number: int, place: int) -> dict[str, object]:
    behind = 35 if place % 19 == 5 and number else place % 4 / 2
    received = 60 * number + place / 2
    return {"id": place % 5, "v": 7 * place % 31, "ts": _text(received - behind), "received": _text(received)}


def _text(seconds: float) -> str:
    minute, second = divmod(max(0, seconds), 60)
    return f"2026-01-01T00:{int(minute):02d}:{second:04.1f}Z"


def finish(folder: Path, out: str) -> None:
    """Run on from the checkpoint of a folder, over the files that are there, into files below `out`."""
    place = folder / out
    sinks = [f"CREATE SINK {name} USING parquet OPTIONS (path '{place / name}');" for name in QUERIES]
    queries = [f"INSERT INTO {name} {query};" for name, query in QUERIES.items()]
    text = "\n".join([DECLARED.format(folder=folder, out=place), *sinks, *queries, SIDE])
    conditions = Conditions(folder / "check", "local[2]", available_now=True, flush=False, views=folder / "views")
    run(parse_script(text), conditions, Watch(Console(file=StringIO())))


def answers(folder: Path) -> dict[str, list[str]]:
    """Return the rows of every sink. They are read without Spark, which reads no log of files that begins later."""
    found = {}
    for name in (*QUERIES, "later"):
        tables = [parquet.read_table(file, partitioning=None) for file in sorted((folder / name).rglob("*.parquet"))]
        found[name] = sorted(json.dumps(row, default=str) for table in tables for row in table.to_pylist())
    return found


def kept_file(number: int = FORMAT) -> Path:
    """Return the file of the kept checkpoint of a format."""
    return Path(__file__).with_name(f"format-{number}.tar.gz")


def make(folder: Path, file: Path) -> None:
    """Make a checkpoint by the first run, keep a copy of it, and keep the answers of the second run with the copy."""
    arrive(folder, FIRST)
    finish(folder, "first")
    for name in KEPT:
        shutil.copytree(folder / name, folder / "copy" / name, ignore=shutil.ignore_patterns("*.crc"))
    arrive(folder, SECOND)
    finish(folder, "second")
    kept = {"folder": str(folder), "answers": answers(folder / "second")}
    (folder / "copy" / ABOUT).write_text(json.dumps(kept, indent=1))
    with tarfile.open(file, "w:gz") as packed:
        for name in (*KEPT, ABOUT):
            packed.add(folder / "copy" / name, name)


def unpack(file: Path, folder: Path) -> dict[str, list[str]]:
    """Put a kept checkpoint into a folder as if it had been made there, and return the answers of its second run.

    Spark keeps the whole path of the schema of a state.
    """
    with tarfile.open(file) as packed:
        packed.extractall(folder, filter="data")
    kept = json.loads((folder / ABOUT).read_text())
    for each in folder.glob("*/*/state/*/_metadata/v2/*"):
        each.write_text(each.read_text().replace(kept["folder"], str(folder)))
    return dict(kept["answers"])
