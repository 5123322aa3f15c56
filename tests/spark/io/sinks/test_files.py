"""Files of batches and files of Spark's own sink do not mix: readers would see one of the two."""

import pytest

from slackwater.algebra.catalog import Pipeline, SinkDef
from slackwater.algebra.nodes import Disorder, Emit, Policy, Scan
from slackwater.errors import InputError
from slackwater.spark.io.sinks import batch_sink, own_sink

PLAN = Emit(Disorder(Scan("S", "S", (), "ts"), Policy()))


def pipeline(path, **options: str) -> Pipeline:
    return Pipeline("out", SinkDef("out", "Parquet", {"PATH": str(path)} | options), PLAN)


def test_side_outputs_that_come_later_need_another_path(spark, tmp_path):
    batch_sink(pipeline(tmp_path)).open(spark.range(1))
    (tmp_path / "_spark_metadata").mkdir()
    with pytest.raises(InputError, match="readers follow its log alone") as caught:
        batch_sink(pipeline(tmp_path)).open(spark.range(1))
    assert caught.value.code == "SW-439"
    assert own_sink(pipeline(tmp_path)) is None


def test_side_outputs_that_are_read_no_more_need_another_path(spark, tmp_path):
    (tmp_path / "batch=0").mkdir()
    with pytest.raises(InputError, match="beside late, rejected or refused rows") as caught:
        own_sink(pipeline(tmp_path))
    assert caught.value.code == "SW-439"
    batch_sink(pipeline(tmp_path)).open(spark.range(1))


def test_files_need_a_path():
    with pytest.raises(InputError) as caught:
        batch_sink(Pipeline("out", SinkDef("out", "json"), PLAN)).open(None)
    assert caught.value.code == "SW-455"
