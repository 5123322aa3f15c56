"""A checkpoint of each format that is read, and of each kind of plan, goes on as it did when it was made."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.upgrades.pipelines import FIRST, SECOND, answers, arrive, finish, kept_file, unpack

from slackwater.spark.run.checkpoint import FORMAT, OLDEST_FORMAT

MOST = 300_000
"""Bytes of a kept checkpoint."""


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("number", range(OLDEST_FORMAT, FORMAT + 1))
def test_a_kept_checkpoint_goes_on_as_it_did_when_it_was_made(spark, tmp_path: Path, number: int):
    assert kept_file(number).stat().st_size < MOST
    expected = unpack(kept_file(number), tmp_path)
    arrive(tmp_path, FIRST + SECOND)
    finish(tmp_path, "second")
    assert all(expected.values())
    assert answers(tmp_path / "second") == expected
