"""`python -m tests.archive FILE` writes the classes of a small run to a file that every JVM of the tests maps.

To read Spark's classes takes half of the time in which Spark starts.
A JVM passes over a file that another Java made, or that was made from other jars.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark import SparkContext
from pyspark.sql import SparkSession

from tests.faults.pipelines import arrived, finish, script

BRIEF = " ".join(
    [
        "-XX:TieredStopAtLevel=1",  # no JVM of the tests lives long enough to be worth the second compiler
        "-Dspark.sql.codegen.wholeStage=false",  # streams are small, and to compile for them takes longer than they do
        "-Dspark.sql.codegen.factoryMode=NO_CODEGEN",
        "-Djdk.lang.Process.launchMechanism=VFORK",  # Hadoop starts `chmod` for every file: in half of the time
        "-Xlog:disable",  # a JVM with other jars would say on its output that it does without the file
    ]
)
"""The options of every JVM of the tests, through JAVA_TOOL_OPTIONS."""


def archived(file: Path) -> str:
    """Return the options of a JVM of the tests, with the file if it was made."""
    return f"{BRIEF} -XX:SharedArchiveFile={file}" if file.exists() else BRIEF


def write(file: Path) -> None:
    """Run pipelines of several kinds, and wait until the JVM has ended and written its classes."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    os.environ["JAVA_TOOL_OPTIONS"] = f"{BRIEF} -XX:ArchiveClassesAtExit={file}"
    with TemporaryDirectory() as name:
        folder = Path(name)
        arrived(folder / "in")
        finish(folder, script(folder, ["overlapping", "mixed"]), flush=False)
    SparkSession.active().stop()
    jvm = SparkContext._gateway.proc  # type: ignore[union-attr]
    jvm.stdin.close()
    jvm.wait()


if __name__ == "__main__":
    write(Path(sys.argv[1]).absolute())
