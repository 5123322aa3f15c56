"""Files of one run are not written among those of another: batches of the same numbers would be lost."""

from pathlib import Path

import pytest

from slackwater.algebra.catalog import Pipeline, SinkDef
from slackwater.algebra.nodes import Disorder, Emit, Policy, Scan
from slackwater.errors import RunError
from slackwater.spark.io.sinks.new_folder import admit_sinks
from slackwater.spark.store import Location

PLAN = Emit(Disorder(Scan("S", "S", (), "ts"), Policy()))
WRITTEN = ["_spark_metadata/0", "_spark_metadata/19.compact", "batch=0/part-0.parquet"]


def made(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def pipeline(path: object, format_: str = "parquet") -> Pipeline:
    return Pipeline("out", SinkDef("out", format_, {"PATH": str(path)}), PLAN)


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("format_", ["Parquet", "csv", "json", "orc", "text"])
def test_a_checkpoint_without_a_batch_does_not_write_among_those_of_another(spark, tmp_path, written, format_):
    made(tmp_path / "out", written)
    made(tmp_path / "check", "slackwater.json", "offsets/.0.94023235.tmp", "ticks/1.json", "sources/0/0")
    for path in (tmp_path / "out", (tmp_path / "out").as_uri(), f"{tmp_path}/out/"):
        with pytest.raises(RunError, match="another run") as caught:
            admit_sinks(spark, [pipeline(tmp_path / "new"), pipeline(path, format_)], Location(str(tmp_path / "check")))
        assert caught.value.code == "SW-515"


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("log", ["offsets/0", "offsets/57"])
def test_a_run_that_was_killed_goes_on_also_before_its_first_commit(spark, tmp_path, written, log):
    made(tmp_path / "out", written)
    made(tmp_path / "check", log)
    admit_sinks(spark, [pipeline(tmp_path / "out")], Location(str(tmp_path / "check")))


@pytest.mark.parametrize("left", ["_spark_metadata/.0.94023235.tmp", "part-0.parquet", "batches.txt"])
def test_what_is_no_batch_is_in_nobodys_way(spark, tmp_path, left):
    """Spark makes the folder of its log before there is a batch, and files that the log does not have do not count."""
    made(tmp_path / "out", left)
    admit_sinks(spark, [pipeline(tmp_path / "out"), pipeline(tmp_path / "none")], Location(str(tmp_path / "check")))


def test_sinks_that_are_no_files_are_not_looked_at(spark, tmp_path):
    made(tmp_path / "out", "_spark_metadata/0")
    admit_sinks(
        spark, [pipeline(tmp_path / "out", "delta"), Pipeline("shown", None, PLAN)], Location(str(tmp_path / "check"))
    )


def test_a_path_that_cannot_be_looked_at_is_an_error(spark, tmp_path):
    with pytest.raises(RunError, match="tide") as caught:
        admit_sinks(spark, [pipeline("tide://pool/out")], Location(str(tmp_path)))
    assert caught.value.code == "SW-516"
