"""How a session is made: what its JVM says goes to a file of its own, and which store the fused operator needs."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from pyspark.errors import PySparkRuntimeError

from slackwater.errors import RunError
from slackwater.spark.session import STATE_STORE, _quiet_jvm, require_state_store


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files in which another user has guessed the names that a process may use."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "mine").write_text("precious")
    (tmp_path / f"slackwater-spark-{os.getpid()}.log").symlink_to(tmp_path / "mine")
    return tmp_path


def said(text: str) -> None:
    os.write(2, f"{text}\n".encode())


def test_what_the_jvm_says_is_written_through_nobody_elses_link(shared: Path):
    with _quiet_jvm():
        said("WARNING: noise")
    (log,) = (each for each in shared.glob("slackwater-spark-*") if not each.is_symlink())
    assert log.read_text() == "WARNING: noise\n"
    assert log.stat().st_mode & 0o777 == 0o600
    assert (shared / "mine").read_text() == "precious"


def test_a_jvm_that_does_not_start_leaves_its_last_words_and_where_the_others_are(shared: Path):
    with pytest.raises(RunError) as caught, _quiet_jvm():
        said("first\njava: not found")
        raise PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})
    problem = caught.value.problem
    assert caught.value.code == "SW-500" and problem.message.endswith("java: not found")
    log = Path(problem.hint.rpartition(" ")[2])
    assert log.parent == shared and log.read_text() == "first\njava: not found\n"


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
