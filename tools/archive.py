"""Runs the demo for a moment and keeps the classes that its JVM loaded: later ones map them and start in half the time.

usage: python tools/archive.py

Made for the Java and the Spark of this environment; with others the JVM ignores the file.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark import SparkContext
from pyspark.sql import SparkSession
from rich.console import Console

from slackwater.app.load import load
from slackwater.app.run import Conditions, run
from slackwater.app.watch import Watch
from slackwater.spark.session import ARCHIVE, JVM_OPTIONS

DEMO = Path(__file__).parents[1] / "examples" / "traffic.sql"
PATIENCE = 120


def main() -> None:
    ARCHIVE.parent.mkdir(parents=True, exist_ok=True)
    ARCHIVE.unlink(missing_ok=True)
    with TemporaryDirectory(dir=ARCHIVE.parent) as folder:
        new = Path(folder) / ARCHIVE.name
        options = f"{JVM_OPTIONS} -XX:ArchiveClassesAtExit={new} -Xlog:disable"
        conditions = Conditions(
            Path(folder) / "checkpoint",
            "local[2]",
            seconds=2.0,
            spark={"spark.driver.extraJavaOptions": options},
        )
        run(load(DEMO), conditions, Watch(Console(quiet=True), quiet=True))
        SparkSession.active().stop()
        jvm = SparkContext._gateway
        jvm.shutdown()
        jvm.proc.stdin.close()
        jvm.proc.wait(PATIENCE)
        new.replace(ARCHIVE)


if __name__ == "__main__":
    main()
