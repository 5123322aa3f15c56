"""Recordings of every kind give the same table; their cuts are those of the trigger."""

import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slackwater.algebra.lengths import Length
from slackwater.disorder.replay.trace import Trace, timestamps
from slackwater.errors import InputError
from slackwater.spark.io.sources.cuts import Cuts

ROWS = [("b", 1_400_000_000_500, 1_400_000_002_000), ("a", 1_400_000_001_000, 1_400_000_001_500)]
CSV = "source,event,arrived\n" + "".join(f"{s},{e},{a}\n" for s, e, a in ROWS)


@pytest.fixture(params=["t.csv", "t.csv.gz", "t.parquet", "t.jsonl", "t.jsonl.gz"])
def path(request, tmp_path: Path) -> Path:
    file = tmp_path / request.param
    lines = "".join(json.dumps({"source": s, "event": e, "arrived": a}) + "\n" for s, e, a in ROWS)
    text = CSV if ".csv" in file.name else lines
    if file.suffix == ".parquet":
        columns = list(zip(*ROWS, strict=True))
        pq.write_table(pa.table({"source": columns[0], "event": columns[1], "arrived": columns[2]}), file)
    elif file.suffix == ".gz":
        file.write_bytes(gzip.compress(text.encode()))
    else:
        file.write_text(text)
    return file


def test_every_kind_of_file_gives_rows_in_order_of_arrival(path):
    table = Trace(str(path), "event", "ARRIVED", "ms").table()
    assert table["source"].to_pylist() == ["a", "b"]
    assert table["event"].cast(pa.int64()).to_pylist() == [1_400_000_001_000_000, 1_400_000_000_500_000]
    assert table.schema.field("arrived").type == pa.timestamp("us", "UTC")


def test_times_are_read_as_numbers_of_a_unit_and_as_texts():
    def ticks(values: pa.Array, unit: str = "ms") -> list[int | None]:
        return timestamps(pa.chunked_array([values]), unit).cast(pa.int64()).to_pylist()

    assert ticks(pa.array([1, -1, None]), "s") == [1_000_000, -1_000_000, None]
    assert ticks(pa.array([1.5]), "ms") == [1_500]
    assert ticks(pa.array([7]), "us") == [7]
    assert ticks(pa.array([3], pa.timestamp("s"))) == [3_000_000]
    texts = pa.array(["1970-01-01T00:00:01Z", "1970-01-01 00:00:02.5", "soon", None, "1970-01-01T01:00:00+01:00"])
    assert ticks(texts) == [1_000_000, 2_500_000, None, None, 0]


@pytest.mark.parametrize("unit", ["ms", "s"])
@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.string()])
def test_times_that_no_timestamp_can_hold_are_told(kind: pa.DataType, unit: str):
    """Nanoseconds that are read as another unit came out as times of any century."""
    nanoseconds = pa.chunked_array([pa.array([1_400_000_000_000_000_000, None, 2**62 // 10]).cast(kind, safe=False)])
    with pytest.raises(InputError, match=rf"no times in '{unit}'") as caught:
        timestamps(nanoseconds, unit)
    assert caught.value.code == "SW-460"
    assert "nanoseconds" in str(caught.value)


def test_a_trace_that_is_not_there_or_lacks_a_clock_is_told(tmp_path):
    (tmp_path / "t.csv").write_text(CSV)
    with pytest.raises(InputError, match="there is no trace"):
        Trace(str(tmp_path / "gone.csv"), "event", None, "ms").table()
    with pytest.raises(InputError, match="did you mean 'arrived'"):
        Trace(str(tmp_path / "t.csv"), "event", "arrive", "ms").table()
    with pytest.raises(InputError, match="perhaps gzipped"):
        Trace("/etc/hostname", "event", None, "ms").table()


def test_cuts_by_rows_and_by_time():
    arrival = np.array([100, 100, 109, 110, 155, 156])
    by_time = Cuts.of(arrival, Length.parse("10 microseconds"))
    assert by_time.ends.tolist() == [3, 4, 6]
    assert by_time.due.tolist() == [10, 20, 60]
    by_rows = Cuts.of(arrival, Length.parse("4 rows"))
    assert by_rows.ends.tolist() == [4, 6]
    assert [by_rows.after(row) for row in (0, 4, 6)] == [4, 6, 6]
    assert Cuts.of(np.array([], np.int64), Length.parse("4 rows")).after(0) == 0
