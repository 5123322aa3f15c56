"""The package that workers are sent, and what they say of themselves."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from zipfile import ZipFile

import pytest
from pyspark import SparkConf

from slackwater.spark.shim import workers
from slackwater.spark.shim.shipping import make_package
from slackwater.spark.shim.workers import BRIEF, ask_workers

pytestmark = pytest.mark.long

MODULES = (
    *("slackwater.spark.operator.operator", "slackwater.spark.operator.host"),
    *("slackwater.spark.io.sources.registry", "slackwater.spark.io.kafka.source", "slackwater.spark.io.kafka.sink"),
)
"""What workers import of the package."""


def test_workers_can_import_what_runs_on_them_and_name_what_they_lack(spark):
    assert [each.lacking for each in ask_workers(spark)] == [()]
    (poor,) = ask_workers(spark, ("numpy", "no_such_tide"))
    assert (poor.lacking, poor.version) == (("no_such_tide",), sys.version_info[:2])


def test_workers_start_beside_the_first_plan_but_not_in_a_brief_session(spark, monkeypatch: pytest.MonkeyPatch):
    context, settings = spark.sparkContext, SparkConf()

    def start(brief: str) -> set[threading.Thread]:
        monkeypatch.setattr(context, "getConf", lambda: settings.set(BRIEF, brief))
        before = set(threading.enumerate())
        workers._start_early.cache_clear()
        workers.require_workers(spark)
        return {each for each in threading.enumerate() if each.name == "slackwater-workers"} - before

    assert start("true") == set()
    before = set(context.statusTracker().getJobIdsForGroup())
    (thread,) = start("false")
    thread.join(60)
    assert set(context.statusTracker().getJobIdsForGroup()) > before


def test_the_package_is_imported_from_the_file_that_workers_get(tmp_path: Path):
    file = make_package(tmp_path)
    assert "slackwater/spark/shim/java/Gauge.java" in ZipFile(file).namelist()
    # A worker's path may be relative to its working folder.
    first = f"import sys; sys.path.insert(0, {file.name!r})"
    code = f"{first}; import {', '.join(MODULES)}, slackwater; print(slackwater.__file__)"
    found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert found.stdout.startswith(file.name)
