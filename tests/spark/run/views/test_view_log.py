"""The log and the folder of a view, without Spark."""

from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slackwater.algebra.catalog import ViewDef
from slackwater.errors import RunError
from slackwater.lang import bind_query
from slackwater.spark.batches import DeliveredBatch
from slackwater.spark.run.views.folder import admit_logs, open_folder
from slackwater.spark.run.views.view_log import LogSink, punctuation_of
from slackwater.spark.store import Location
from slackwater.spark.watermark.control import CLOCK
from slackwater.testing.catalog import CATALOG

PLAN = bind_query("SELECT id, COUNT(*) AS n FROM Readings [RANGE 4 seconds SLIDE 2 seconds] GROUP BY id", CATALOG)
VIEW = ViewDef("Sums", (), PLAN)
SECOND = 1_000_000


@dataclass
class Rows:
    """As much of a DataFrame as a sink needs."""

    ids: list[int]

    def toArrow(self) -> pa.Table:  # noqa: N802
        return pa.table({"id": self.ids}, pa.schema([pa.field("id", pa.int32(), nullable=False)]))


def written(log: Path) -> list[list[tuple[object, object]]]:
    tables = [pq.read_table(file) for file in sorted(log.glob("*.parquet"))]
    clocks = [table[CLOCK].cast(pa.int64()).to_pylist() for table in tables]
    return [list(zip(table["id"].to_pylist(), clock, strict=True)) for table, clock in zip(tables, clocks, strict=True)]


def test_a_file_holds_the_rows_of_a_batch_and_its_punctuation_and_is_written_once(tmp_path):
    sink = LogSink(Location(str(tmp_path / "log")), PLAN)
    sink.open(None)  # type: ignore[arg-type]
    for number, ids, mark in [
        (0, [], 0),
        (1, [7, 5], 4_000),
        (1, [9], 4_000),
        (2, [], 6_000),
        (3, [], 6_000),
        (4, [1], 6_000),
    ]:
        before = {0: 0, 1: 0, 2: 4_000}.get(number, 6_000)
        sink.write(Rows(ids), DeliveredBatch(number, "run", mark, before))  # type: ignore[arg-type]
    assert written(tmp_path / "log") == [
        [(7, None), (5, None), (None, 4 * SECOND)],
        [(None, 6 * SECOND)],
        [(1, None), (None, 6 * SECOND)],
    ]
    assert not list((tmp_path / "log").glob("_*"))


def test_sampled_rows_are_punctuated_at_the_ends_of_slots():
    sampled = bind_query("SELECT id FROM (SELECT id [FREQUENCY 5 seconds] FROM Readings) AS q", CATALOG)
    assert punctuation_of(sampled, 12 * SECOND) == 10 * SECOND
    jumping = bind_query("SELECT COUNT(*) AS n FROM Readings [RANGE 9 seconds, FREQUENCY 5 seconds]", CATALOG)
    assert punctuation_of(jumping, 12 * SECOND) == 12 * SECOND


def test_one_run_at_a_time_keeps_a_view(tmp_path):
    first, second = (open_folder(Location(str(tmp_path)), replace(VIEW, name=name)) for name in ("Sums", "SUMS"))
    assert first == second
    lock = first.claim()
    assert lock is not None
    assert second.claim() is None
    lock.close()
    again = second.claim()
    assert again is not None
    again.close()


def test_a_log_without_the_checkpoint_of_its_query_is_refused(tmp_path):
    folder = open_folder(Location(str(tmp_path)), VIEW)
    (folder.log / "000000000.parquet").write(b"")
    with pytest.raises(RunError, match="no checkpoint"):
        open_folder(Location(str(tmp_path)), VIEW)


def test_a_reader_does_not_go_on_with_another_log_of_the_same_name(tmp_path):
    one, two = (open_folder(Location(str(tmp_path / name)), VIEW) for name in ("one", "two"))
    admit_logs(Location(str(tmp_path / "check")), {"view.Sums": one})
    admit_logs(Location(str(tmp_path / "check")), {"view.Sums": one})
    with pytest.raises(RunError) as caught:
        admit_logs(Location(str(tmp_path / "check")), {"view.Sums": two})
    assert caught.value.code == "SW-513"
