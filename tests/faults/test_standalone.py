"""A real cluster whose workers do not have this package: they get it, a worker dies, and the answers are the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faults.pipelines import answers, arrived, finish, logged, script, spawn, strike, wait_until
from tests.faults.standalone import bare_python, standalone_cluster

NAMES = ["tumbling", "nested", "mixed"]
"""A view, which is windows of Spark's own, two queries that read it, and the fused operator."""
CHANGES = """
CREATE SINK changes USING parquet OPTIONS (path '{path}');
INSERT INTO changes
SELECT segment, COUNT(*) AS n FROM Traffic [RANGE 2 seconds DRATIO 5%] GROUP BY segment EMIT CHANGES;
"""
QUICK = [f"spark.{each}.extraJavaOptions=-XX:TieredStopAtLevel=1" for each in ("driver", "executor")]
"""JVMs that live for seconds: the second compiler takes more time than it saves."""
SHORT = "SLACK 300"
"""A fixed slack that is short beside the stream: windows close without a flush, for which each query would start
a second time."""


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_cluster_answers_as_one_process_does_though_a_worker_dies(spark, tmp_path: Path, monkeypatch):
    hit, spared = tmp_path / "hit", tmp_path / "spared"
    arrived(tmp_path / "in")
    texts = {}
    for folder in (hit, spared):
        folder.mkdir()
        (folder / "in").symlink_to(tmp_path / "in")
        text = script(folder, NAMES) + CHANGES.format(path=folder / "out" / "changes")
        texts[folder] = text.replace("DRATIO 5%", SHORT)
    names = [*NAMES, "changes"]
    monkeypatch.setenv("PYSPARK_PYTHON", str(bare_python(tmp_path / "bare")))
    with standalone_cluster(tmp_path / "cluster") as cluster:
        lacking = _asked(cluster.address, bare_python(tmp_path / "poor", ["pyarrow"]))
        assert "SW-502" in lacking, lacking
        assert "which lacks pyarrow" in lacking, lacking

        settings = ["spark.task.maxFailures=8", "spark.sql.shuffle.partitions=2", *QUICK]
        given = [word for each in settings for word in ("--conf", each)]
        process = spawn(hit, texts[hit], "--no-flush", "--master", cluster.address, *given)
        try:
            wait_until((hit / "check" / "mixed" / "offsets" / "1").exists, process)
            assert process.poll() is None, (hit / "shown.txt").read_text()
            cluster.kill_worker()
            process.wait(600)
        finally:
            strike(process)
        assert process.returncode == 0, (hit / "shown.txt").read_text()
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    finish(spared, texts[spared], flush=False)
    assert answers(spark, hit, names) == answers(spark, spared, names)
    assert all(answers(spark, hit, names).values())
    assert logged(hit) == logged(spared)


def _asked(master: str, python: Path) -> str:
    """Return the error output of a program whose workers use the given Python."""
    code = "from slackwater.spark.session import local_session\nfrom slackwater.spark.io.sources import registry\n"
    code += f"registry.register(local_session(master='{master}'))"
    env = {**os.environ, "PYSPARK_PYTHON": str(python), "PYSPARK_DRIVER_PYTHON": sys.executable}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode != 0
    return done.stderr
