"""How a session is made: what Spark says goes to a file, what its workers run, which store the fused operator needs."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import PySparkRuntimeError
from pyspark.logger import PySparkLogger

from slackwater.errors import RunError
from slackwater.spark import session
from slackwater.spark.batches import partitions_kept
from slackwater.spark.session import (
    PARTITIONS,
    STATE_STORE,
    python_of_workers,
    require_state_store,
    spread_over_cluster,
)
from slackwater.spark.shim import spark_log, workers
from slackwater.spark.shim.spark_log import new_log, with_log
from slackwater.spark.store import Location


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder for temporary files in which another user has guessed the names that a process may use."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "mine").write_text("precious")
    (tmp_path / f"slackwater-spark-{os.getpid()}.log").symlink_to(tmp_path / "mine")
    return tmp_path


@pytest.fixture
def loggers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Start a test without a log, and restore PySpark's loggers afterwards."""
    monkeypatch.setattr(spark_log, "_logs", [])
    monkeypatch.setattr(spark_log, "_named", set())
    found = [logging.getLogger("py4j"), *map(PySparkLogger.getLogger, spark_log.QUERY_LOGGERS)]
    for each in found:
        monkeypatch.setattr(each, "handlers", [])
    yield
    for handler in (handler for each in found for handler in each.handlers):
        handler.close()


@pytest.mark.usefixtures("loggers")
def test_what_spark_says_is_written_through_nobody_elses_link(shared: Path):
    with new_log() as file:
        subprocess.run(["sh", "-c", "echo WARNING: noise >&2; echo more"], stdout=file, stderr=file, check=True)
    (path,) = (each for each in shared.glob("slackwater-spark-*") if not each.is_symlink())
    assert path.read_text() == "WARNING: noise\nmore\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert (shared / "mine").read_text() == "precious"


@pytest.mark.usefixtures("loggers")
def test_what_pyspark_logs_is_written_to_the_same_file(shared: Path, capfd: pytest.CaptureFixture[str]):
    with new_log() as file:
        file.write(b"first\n")
    for name in spark_log.QUERY_LOGGERS:
        PySparkLogger.getLogger(name).error("refused")
    logging.getLogger("py4j.clientserver").warning("lost")
    (path,) = (each for each in shared.glob("slackwater-spark-*") if not each.is_symlink())
    assert [word in path.read_text() for word in ("first", "refused", "lost")] == [True] * 3
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("loggers")
def test_a_log_is_kept_if_an_error_names_it(shared: Path):
    assert with_log("check it") == "check it"  # in a session that somebody else has made
    with new_log():
        pass
    (path,) = spark_log._logs
    spark_log._remove(path)
    assert not path.exists()
    with new_log():
        pass
    path = spark_log._logs[-1]
    assert with_log("check it") == f"check it; Spark's log is {path}"
    spark_log._remove(path)
    assert path.exists()


def test_a_jvm_that_does_not_start_leaves_its_last_words_and_where_the_others_are(shared: Path):
    with pytest.raises(RunError) as caught, new_log() as file:
        file.write(b"first\njava: not found\n")
        file.flush()
        raise PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})
    problem = caught.value.problem
    assert caught.value.code == "SW-500" and problem.message.endswith("java: not found")
    path = Path(problem.hint.rpartition(" ")[2])
    assert path.parent == shared and path.read_text() == "first\njava: not found\n"


def test_workers_run_this_interpreter_unless_a_setting_or_a_cluster_says_otherwise(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYSPARK_PYTHON", "/elsewhere/python3")
    assert python_of_workers("local[*]", {}) == sys.executable
    assert python_of_workers("spark://host:7077", {}) == "/elsewhere/python3"
    assert python_of_workers("local[*]", {"spark.pyspark.python": "/stated/python3"}) == "/stated/python3"
    monkeypatch.delenv("PYSPARK_PYTHON")
    assert python_of_workers("spark://host:7077", {}) == sys.executable


def test_workers_that_lack_the_package_are_told_in_one_line(tmp_path: Path):
    def told(python: str | Path) -> str:
        workers._require.cache_clear()
        with pytest.raises(RunError, match="SW-502") as caught:
            workers._require("app-1", "local[2]", str(python))
        assert f"set PYSPARK_PYTHON={sys.executable} " in caught.value.problem.hint
        return caught.value.problem.message

    bare, old = tmp_path / "bare", tmp_path / "python2"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E "$@"')  # without the packages of its environment
    old.write_text("#!/bin/sh\necho '[[2, 7], []]'")
    for each in (bare, old):
        each.chmod(0o700)
    workers._require.cache_clear()
    workers._require("app-1", "local[2]", sys.executable)
    assert (
        told(bare) == f"Spark's workers run '{bare}', which lacks slackwater, pyarrow, pandas, numpy, google.protobuf"
    )
    assert told(old).endswith("which is version 2.7")
    assert "which does not start: " in told(tmp_path / "none") and "\n" not in told(tmp_path / "none")


class Session:
    """With a state store of Spark's own choice."""

    conf: dict[str, str] = {}  # noqa: RUF012


def test_the_fused_operator_alone_is_said_to_need_rocksdb():
    with pytest.raises(RunError, match=f"state of the fused operator.*\n.*{STATE_STORE}"):
        require_state_store(Session())  # type: ignore[arg-type]


def test_workers_are_forked_from_a_process_without_what_only_the_driver_needs():
    told = "import sys, slackwater.spark.run.daemon; print(*[name for name in sys.modules if 'slackwater' in name])"
    out = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True).stdout.split()
    assert "slackwater.spark.operator.operator" in out
    assert not {"slackwater.spark.watermark.punctuate", "slackwater.spark.watermark.steering"} & set(out)


class Stated(dict[str, str]):
    def contains(self, name: str) -> bool:
        return name in self


class Conf(dict[str, str]):
    def set(self, name: str, value: str) -> None:
        self[name] = value


class Cluster:
    """A session of a cluster whose executors come one after the other, and what was set in it."""

    def __init__(self, master: str = "spark://host:7077", cores: int = 6, **stated: str) -> None:
        self.master, self.stated, self.defaultParallelism = master, stated, cores
        self.executors = iter([1, 1, 2, 3])
        self.conf = Conf({PARTITIONS: "200"})
        self.sparkContext = self._jsc = self

    def sc(self) -> Cluster:
        return self

    def getConf(self) -> Stated:  # noqa: N802
        return Stated(self.stated)

    def getExecutorMemoryStatus(self) -> Cluster:  # noqa: N802
        return self

    def size(self) -> int:
        """Return the number of executors, in which Spark counts the driver."""
        self.seen = next(self.executors, 4)
        return self.seen


def spread(cluster: Cluster) -> tuple[str, str]:
    said = spread_over_cluster(cluster)  # type: ignore[arg-type]
    return said, cluster.conf[PARTITIONS]


def test_a_new_checkpoint_has_a_partition_for_each_core_of_a_cluster(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(session, "STEADY", 0.3)
    cluster = Cluster()
    assert spread(cluster) == ("the state of a new checkpoint has 6 partitions, one for each core of the cluster", "6")
    assert cluster.seen == 4  # it has waited for all of them
    assert spread(Cluster(cores=4_000))[1] == "200"


def test_partitions_that_are_stated_or_that_nobody_can_know_stay(monkeypatch: pytest.MonkeyPatch):
    assert spread(Cluster(**{PARTITIONS: "12"})) == ("", "200")
    assert spread(Cluster("local[4]")) == ("", "200")
    said, number = spread(Cluster(**{"spark.dynamicAllocation.enabled": "true"}))
    assert "has 200 partitions: the cluster may grow" in said and number == "200"


def test_a_checkpoint_says_with_how_many_partitions_it_began(tmp_path: Path):
    assert partitions_kept(Location(str(tmp_path))) is None
    (tmp_path / "offsets").mkdir()
    (tmp_path / "offsets" / "7").write_text(
        'v1\n{"batchWatermarkMs":0,"conf":{"spark.sql.shuffle.partitions":"12"}}\n{}'
    )
    assert partitions_kept(Location(str(tmp_path))) == 12
    (tmp_path / "offsets" / "8").write_text("")
    assert partitions_kept(Location(str(tmp_path))) is None
