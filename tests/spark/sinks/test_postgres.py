"""`USING postgres` under a whole pipeline."""

from pathlib import Path

import pytest
from tests.spark.sinks.running import finished

from slackwater.errors import RunError

SCRIPT = """
CREATE STREAM Traffic (vehID INT, segment INT, speed DOUBLE, timestamp TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (rate '200', rows '800', pace 'max', batch '1 second', mean '0.5 seconds', seed '11')
TIMESTAMP BY timestamp ARRIVAL BY received;
CREATE SINK tolls USING {sink};
INSERT INTO tolls SELECT segment, COUNT(*) AS n, SUM(speed) AS total, window_end, collect_set(vehID % 2) AS parities
FROM Traffic [RANGE 2 seconds SLIDE 1 second DRATIO 5% USING adaptive] GROUP BY segment;
"""
COLUMNS = ("segment", "n", "total", "window_end")
TABLE = """
CREATE TABLE tolls (
    segment int, n bigint, total float8, parities jsonb,
    window_end timestamptz CONSTRAINT early CHECK (window_end < '2024-01-01 00:00:01+00')
)
"""


def test_a_pipeline_that_fails_in_mid_batch_resumes_to_the_rows_that_parquet_has(spark, database, tmp_path: Path):
    """The table takes no more than so many rows until it is mended: batches that came before are not repeated."""
    finished(spark, SCRIPT.format(sink=f"parquet OPTIONS (path '{tmp_path / 'out'}')"), tmp_path / "spared")
    expected = sorted(map(tuple, spark.read.parquet(str(tmp_path / "out")).select(*COLUMNS).collect()))
    assert len(expected) > 30
    script = SCRIPT.format(sink=f"postgres OPTIONS ({database.clause})")
    database.connection.execute(TABLE)
    with pytest.raises(RunError, match="violates check constraint") as caught:
        finished(spark, script, tmp_path / "struck")
    assert caught.value.code == "SW-532"
    written = database.rows("SELECT count(*) FROM tolls")[0][0]
    assert 0 < written < len(expected)
    database.connection.execute("ALTER TABLE tolls DROP CONSTRAINT early")
    last = finished(spark, script, tmp_path / "struck")
    found = database.rows("SELECT segment, n, total, window_end::timestamp FROM tolls")
    assert sorted(found) == expected
    assert database.rows("SELECT batch FROM slackwater_batches") == [(last[-1].batch,)]
    assert database.rows("SELECT DISTINCT jsonb_typeof(parities) FROM tolls") == [("array",)]


def test_a_table_that_does_not_fit_keeps_the_pipeline_from_starting(spark, database, tmp_path):
    database.connection.execute("CREATE TABLE tolls (segment text)")
    with pytest.raises(RunError, match="has 'segment' as text") as caught:
        finished(spark, SCRIPT.format(sink=f"postgres OPTIONS ({database.clause})"), tmp_path / "check")
    assert caught.value.code == "SW-534"
    assert not (tmp_path / "check" / "offsets").exists()
