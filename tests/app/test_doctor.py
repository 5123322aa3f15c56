"""`slackwater doctor` says what is right, and for what is not what to do."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pyspark
import pytest
from rich.console import Console

from slackwater.app.doctor import doctor
from slackwater.spark.run.doctor import Finding, find_checkpoint, find_java, find_spark


def told(checkpoint: Path) -> tuple[bool, str]:
    console = Console(file=StringIO(), width=300, highlight=False)
    right = doctor(console, "local[2]", {}, str(checkpoint))
    return right, str(console.file.getvalue())  # type: ignore[attr-defined]


def test_what_is_right_is_listed_and_what_is_not_comes_with_what_to_do(spark, tmp_path: Path):
    right, shown = told(tmp_path / "check")
    assert right, shown
    assert "shell (prompt_toolkit" in shown
    for line in (f"pyspark {pyspark.__version__}, which is supported", "can import the package", "can be written"):
        assert line in shown
    assert not list((tmp_path / "check").iterdir())
    (tmp_path / "file").touch()
    right, shown = told(tmp_path / "file" / "check")
    assert not right
    assert f"no  '{tmp_path / 'file'}' is a file, where a checkpoint must be a folder\n    do: give another" in shown
    assert "SW" not in find_checkpoint(spark, "neap://pool/check").what
    assert "connector of the store" in find_checkpoint(spark, "neap://pool/check").hint


def test_a_java_that_is_missing_or_old_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert (find_java().right, "cannot be run" in find_java().what) == (False, True)
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    java.chmod(0o755)
    assert find_java() == Finding(False, f"Java 11.0.2 at {java}", find_java().hint)
    assert "17 or newer" in find_java().hint
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_java().what == "no Java on the path"


def test_a_version_of_spark_that_was_not_tested_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pyspark, "__version__", "3.5.1")
    assert find_spark().what == "Slackwater was not tested with Spark 3.5.1, only with 4.0 to 4.3"
    assert "pip install 'pyspark==4.3.0'" in find_spark().hint
