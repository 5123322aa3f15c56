"""Every benchmark that has a name can be run by it."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from bench.__main__ import run
from bench.disorder import runs, win

from bench import BENCHMARKS, BenchmarkRefused

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_says_what_it_compares_and_can_run(name):
    module = importlib.import_module(BENCHMARKS[name])
    assert module.__doc__.splitlines()[0].endswith(".")
    assert callable(module.main)


def test_an_unknown_name_is_refused_with_those_that_there_are():
    asked = [sys.executable, "-m", "bench", "nothing"]
    answer = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    assert answer.returncode == 2
    assert "record-store" in answer.stderr


def test_a_benchmark_without_its_recorded_streams_does_not_look_complete(tmp_path, monkeypatch, capsys):
    (tmp_path / "umts-phones-1.csv.gz").touch()
    monkeypatch.setattr(runs, "TRACES", tmp_path)
    runs.hard_streams.cache_clear()
    with pytest.raises(BenchmarkRefused, match=r"missing in .*: umts-phones-3\.csv\.gz, windows-logs-1\.csv\.gz"):
        runs.hard_streams()
    assert not run("win", win)
    assert "win: NOT RUN" in capsys.readouterr().err
