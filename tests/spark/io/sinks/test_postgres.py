"""`USING postgres` under a whole pipeline."""

from pathlib import Path

import pytest
from tests.spark.io.sinks.running import finished

from slackwater.errors import InputError, RunError
from slackwater.spark.batches import DeliveredBatch
from slackwater.spark.io.sinks.postgres.sink import Postgres
from slackwater.spark.store import Location
from slackwater.spark.watermark.accounts import accounts_kept

SCRIPT = """
CREATE STREAM Traffic (vehID INT, segment INT, speed DOUBLE, timestamp TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (rate '200', rows '600', pace 'max', batch '1 second', mean '0.5 seconds', seed '11')
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


@pytest.mark.slow
def test_a_pipeline_that_fails_in_mid_batch_resumes_to_the_rows_that_parquet_has(spark, database, tmp_path: Path):
    """The table takes no more than so many rows until it is mended: batches that came before are not repeated."""
    finished(spark, SCRIPT.format(sink=f"parquet OPTIONS (path '{tmp_path / 'out'}')"), tmp_path / "spared")
    expected = sorted(map(tuple, spark.read.parquet(str(tmp_path / "out")).select(*COLUMNS).collect()))
    assert len(expected) > 20
    script = SCRIPT.format(sink=f"postgres OPTIONS ({database.clause})")
    database.connection.execute(TABLE)
    with pytest.raises(RunError, match="violates check constraint") as caught:
        finished(spark, script, tmp_path / "struck")
    assert caught.value.code == "SW-532"
    written = database.rows("SELECT count(*) FROM tolls")[0][0]
    assert 0 < written < len(expected)
    database.connection.execute("ALTER TABLE tolls DROP CONSTRAINT early")
    done = next(iter(accounts_kept(Location(str(tmp_path / "struck"))).values())).rows
    last = finished(spark, script, tmp_path / "struck")
    assert sum(record.rows_in for record in last) == 600 - done < 600, "batches that were done are not counted again"
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


def test_the_character_nul_which_no_text_takes_is_written_as_its_picture(spark, database):
    text = r"concat('a', char(0), 'b\\u0000')"
    df = spark.sql(f"SELECT {text} AS k, named_struct('t', array({text})) AS parts, cast(char(0) AS BINARY) AS raw")
    sink = Postgres("poison", "out", database.options, changelog=False, key=None)
    sink.open(df)
    sink.write(df, DeliveredBatch(0, "run"))
    shown = "a\u2400b\\u0000"
    assert database.rows("SELECT k, parts, raw FROM out") == [(shown, {"t": [shown]}, b"\0")]


CHANGES = """
SELECT * FROM VALUES
    ('insert', 1, 10, array(1), timestamp'2024-01-01 00:00:01', timestamp'2024-01-01 00:01:00'),
    ('insert', 2, 20, array(2), timestamp'2024-01-01 00:00:01', NULL),
    ('insert', 3, 30, array(3), timestamp'2024-01-01 00:00:01', NULL),
    ('delete', 2, NULL, NULL, timestamp'2024-01-01 00:00:02', timestamp'2024-01-01 00:00:02')
AS (_change_type, ID, n, parts, _valid_from, _valid_to)
"""


def test_a_changelog_keeps_the_table_of_its_live_rows(spark, database):
    df = spark.sql(CHANGES).coalesce(1)
    sink = Postgres("speeding", "out", database.options, changelog=True, key=("id",))
    sink.open(df)
    first, second = 1_704_067_203_000, 1_704_067_260_000
    sink.write(df, DeliveredBatch(0, "run", first))
    assert database.rows('SELECT "ID", n, parts FROM out ORDER BY 1') == [(1, 10, [1]), (3, 30, [3])]
    sink.write(df.where("false"), DeliveredBatch(1, "run", second))
    assert database.rows('SELECT "ID" FROM out') == [(3,)]
    assert database.rows("SELECT pipeline, batch FROM slackwater_batches") == [("speeding", 1)]


def test_a_changelog_can_be_written_as_rows(spark, database):
    df = spark.sql(CHANGES)
    sink = Postgres("speeding", "out", database.options | {"mode": "append"}, changelog=True, key=None)
    sink.open(df)
    sink.write(df, DeliveredBatch(0, "run"))
    assert database.rows("SELECT _change_type, count(*) FROM out GROUP BY 1 ORDER BY 1") == [
        ("delete", 1),
        ("insert", 3),
    ]


@pytest.mark.parametrize(
    ("options", "changelog", "key", "code"),
    [
        ({}, True, None, "SW-454"),
        ({}, True, ("no such column",), "SW-454"),
        ({"mode": "table"}, False, ("id",), "SW-457"),
        ({"restart": "maybe"}, True, ("id",), "SW-457"),
    ],
)
def test_what_cannot_be_a_table_of_live_rows_is_refused(spark, database, options, changelog, key, code):
    with pytest.raises(InputError) as caught:
        Postgres("p", "out", database.options | options, changelog, key).open(spark.sql(CHANGES))
    assert caught.value.code == code


def test_the_columns_of_another_profile_are_refused(spark, database):
    with pytest.raises(InputError) as caught:
        Postgres("p", "out", database.options, changelog=True, key=("id",)).open(
            spark.sql("SELECT 1 AS id, '+I' AS op")
        )
    assert caught.value.code == "SW-458"
