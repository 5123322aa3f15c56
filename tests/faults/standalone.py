"""A standalone cluster on loopback, of the installed pyspark: one master, two workers."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

import pyspark

HOME = Path(pyspark.__file__).parent
PATIENCE = 120


@dataclass(frozen=True)
class Cluster:
    """Its master's address, and the processes of its workers with all that they start."""

    address: str
    workers: Sequence[subprocess.Popen[bytes]]

    def kill_worker(self) -> None:
        """Kill a worker and its executors with SIGKILL, so that no shutdown hook runs."""
        os.killpg(self.workers[0].pid, signal.SIGKILL)
        self.workers[0].wait()


@contextmanager
def standalone_cluster(folder: Path) -> Iterator[Cluster]:
    """Yield a running cluster."""
    folder.mkdir()
    started = [_started(folder, "master", "master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")]
    try:
        address = _logged(folder / "master.log", r"Starting Spark master at (spark://127\.0\.0\.1:\d+)", started[0])
        for name in ("one", "two"):
            given = [
                "--host",
                "127.0.0.1",
                "-c",
                "1",
                "-m",
                "1g",
                "--webui-port",
                "0",
                "-d",
                str(folder / name),
                address,
            ]
            started.append(_started(folder, name, "worker.Worker", *given))
        for name, worker in zip(("one", "two"), started[1:], strict=True):
            _logged(folder / f"{name}.log", "Successfully registered with master", worker)
        yield Cluster(address, started[1:])
    finally:
        for each in started:
            with suppress(ProcessLookupError):
                os.killpg(each.pid, signal.SIGKILL)
            each.wait()


def _started(folder: Path, name: str, kind: str, *given: str) -> subprocess.Popen[bytes]:
    # Loopback, and Spark's own logging, in which the master tells its address.
    own = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_NO_DAEMONIZE": "1"}
    command = [str(HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", *given]
    with (folder / f"{name}.log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, env={**os.environ, **own})


def _logged(log: Path, pattern: str, process: subprocess.Popen[bytes]) -> str:
    end = monotonic() + PATIENCE
    while monotonic() < end and process.poll() is None:
        if found := re.search(pattern, log.read_text(errors="replace")):
            return found[found.re.groups]
        sleep(0.1)
    raise AssertionError(log.read_text(errors="replace")[-2_000:])


def bare_python(folder: Path, without: Collection[str] = ()) -> Path:
    """Return a Python with the dependencies except `without`, and without this or any other editable package.

    Without `site`, no `.pth` file is read, which is how an editable package is found.
    """
    libraries = folder / "libraries"
    libraries.mkdir(parents=True)
    for each in Path(sysconfig.get_paths()["purelib"]).iterdir():
        if each.name.split(".")[0].split("-")[0] not in (*without, "slackwater", "pyspark"):
            (libraries / each.name).symlink_to(each)
    file = folder / "python"
    file.write_text(f'#!/bin/sh\nPYTHONPATH="{libraries}:$PYTHONPATH" exec "{sys.executable}" -S "$@"\n')
    file.chmod(0o755)
    return file
