"""Columns of files that are read without Spark: those that Spark finds, or none at all."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from slackwater.spark.io.peek import peek_columns

ROW = {"user": 1, "page": "/", "ts": "2026-01-01T10:00:00"}


def test_the_names_of_json_rows_also_of_later_ones(tmp_path: Path):
    rows = [json.dumps(ROW), "{ torn", "[1]", "", json.dumps(ROW | {"agent": "x"})]
    (tmp_path / "_SUCCESS").write_text('{"hidden": 1}')
    (tmp_path / "a.json").write_text("\n".join(rows))
    assert peek_columns("JSON", {"Path": str(tmp_path)}) == ["user", "page", "ts", "agent"]
    assert peek_columns("json", {"path": f"file://{tmp_path}/a.json"}) == ["user", "page", "ts", "agent"]
    (tmp_path / "zipped").mkdir()
    (tmp_path / "zipped" / "a.json.gz").write_bytes(gzip.compress(json.dumps(ROW).encode()))
    assert peek_columns("json", {"path": str(tmp_path / "zipped")}) == [*ROW]


def test_the_columns_of_parquet_are_those_of_its_footer_and_of_its_folders(tmp_path: Path):
    (tmp_path / "day=1" / "_temporary").mkdir(parents=True)
    pa.parquet.write_table(pa.table({"user": [1], "page": ["/"]}), tmp_path / "day=1" / "part-0.parquet")
    assert peek_columns("parquet", {"path": str(tmp_path), "maxFilesPerTrigger": "1"}) == ["user", "page", "day"]


@pytest.mark.parametrize(
    ("format_", "options"),
    [
        ("csv", {}),
        ("json", {"multiLine": "true"}),
        ("json", {"pathGlobFilter": "*.json"}),
        ("parquet", {}),
        ("json", {"path": "s3a://bucket/clicks"}),
        ("json", {"path": "{folder}/*"}),
        ("json", {"path": "{folder}/none"}),
        ("json", {"path": "{folder}/empty"}),
    ],
    ids=str,
)
def test_what_only_spark_can_say_is_left_to_it(format_: str, options: dict[str, str], tmp_path: Path):
    (tmp_path / "a.json").write_text(json.dumps(ROW))
    (tmp_path / "empty").mkdir()
    given = {name: value.replace("{folder}", str(tmp_path)) for name, value in options.items()}
    assert peek_columns(format_, {"path": str(tmp_path)} | given) is None
