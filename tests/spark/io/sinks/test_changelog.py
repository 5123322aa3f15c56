"""A changelog into a PostgreSQL table, end to end: after a failure in mid-stream the table has the live rows."""

from collections import Counter

import numpy as np
import pytest
from tests.spark.io.sinks.running import finished

from slackwater.errors import RunError
from slackwater.spark.io.sources.recipe import GENERATE, Recipe
from slackwater.spark.options import Options

RANGE = 3_000_000
SOURCE = {"rate": "100", "rows": "700", "pace": "max", "batch": "2 seconds", "mean": "0 seconds", "seed": "5"}
SCRIPT = """
CREATE STREAM Traffic (vehID INT, segment INT, speed DOUBLE, timestamp TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS ({source}) TIMESTAMP BY timestamp ARRIVAL BY received;
CREATE SINK busy USING postgres OPTIONS ({database});
INSERT INTO busy SELECT segment, COUNT(*) AS n
FROM Traffic [RANGE 3 seconds SLACK 0] GROUP BY segment EMIT CHANGES;
"""
TABLE = """
CREATE TABLE busy (
    segment int UNIQUE, n bigint, _valid_to timestamptz,
    _valid_from timestamptz CONSTRAINT early CHECK (_valid_from < '{since}')
)
"""


@pytest.mark.slow
def test_the_table_has_the_live_rows_after_a_failure_and_a_resumption(spark, database, tmp_path):
    source = ", ".join(f"{name} '{value}'" for name, value in SOURCE.items())
    script = SCRIPT.format(source=source, database=database.clause)
    rows = Recipe.of(Options(GENERATE, SOURCE)).between(0, 10**9)
    times = rows["timestamp"].astype("datetime64[us]").astype(np.int64)
    middle = np.datetime64(int(np.median(times)), "us")
    database.connection.execute(TABLE.format(since=f"{middle}+00"))
    with pytest.raises(RunError, match="violates check constraint"):
        finished(spark, script, tmp_path / "check")
    failed_at = database.rows("SELECT batch FROM slackwater_batches")
    assert failed_at and database.rows("SELECT count(*) > 0 FROM busy") == [(True,)]
    database.connection.execute("ALTER TABLE busy DROP CONSTRAINT early")
    finished(spark, script, tmp_path / "check")
    ((batch, punctuation),) = database.rows(
        "SELECT batch, (extract(epoch FROM punctuation) * 1000000)::bigint FROM slackwater_batches"
    )
    assert batch > failed_at[0][0]
    live = (times < punctuation) & (times + RANGE > punctuation)
    expected = Counter(rows["segment"][live].tolist())
    assert len(expected) > 3
    assert dict(database.rows("SELECT segment, n FROM busy")) == expected
