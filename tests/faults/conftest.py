"""What the pipelines answer when nothing happens to them: worked out once for all faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.faults.pipelines import TABLE, answers, finish, kept, script
from tests.postgres import schema_on


@dataclass(frozen=True, slots=True)
class Spared:
    """The rows of each sink, those of the table, and what the run told at its end."""

    rows: Mapping[str, Counter[object]]
    table: list[tuple[object, ...]]
    told: str


@pytest.fixture(scope="session")
def spared(spark: SparkSession, server: Path, tmp_path_factory: pytest.TempPathFactory) -> Spared:
    folder = tmp_path_factory.mktemp("spared")
    with schema_on(server) as database:
        told = finish(folder, script(folder) + TABLE.format(options=database.clause))
        return Spared(answers(spark, folder), kept(database), told)
