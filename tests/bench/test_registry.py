"""Every benchmark that has a name can be run by it."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from bench import BENCHMARKS

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
