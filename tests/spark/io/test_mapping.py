"""Columns that a source names otherwise, times that it has as numbers or texts, and rows that are none."""

import pytest
from tests.spark.streams import finish

from slackwater.algebra.catalog import StreamDef
from slackwater.algebra.schema import Field
from slackwater.disorder.replay.trace import RAW
from slackwater.errors import InputError
from slackwater.spark.io.mapping import map_columns
from slackwater.spark.io.rejects import REASON, sets_aside
from slackwater.spark.io.streams import read_stream

FIELDS = (Field("ts", "timestamp"), Field("seen", "timestamp"), Field("speed", "double"))


def declared(format_: str = "json", **options: str) -> StreamDef:
    return StreamDef("S", FIELDS, format_, {name.replace("__", "."): value for name, value in options.items()})


def test_options_map_columns_and_the_others_are_left_for_the_format():
    given = declared(column__TS="event", unit__ts="ms", pattern__seen="dd/MM/yyyy", kafka__topic="t", path="p")
    columns, left = map_columns(given)
    assert [(each.field.name, str(each.read)) for each in columns] == [
        ("ts", "event bigint"),
        ("seen", "seen string"),
        ("speed", "speed double"),
    ]
    assert left == {"kafka.topic": "t", "path": "p"}


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"unit__tss": "ms"}, "SW-437"),
        ({"unit__ts": "fortnights"}, "SW-438"),
        ({"unit__speed": "ms"}, "SW-438"),
        ({"pattern__speed": "dd"}, "SW-438"),
    ],
)
def test_options_about_no_column_or_no_time_are_refused(options, code):
    with pytest.raises(InputError) as caught:
        map_columns(declared(**options))
    assert caught.value.code == code


def test_a_user_who_says_what_to_do_with_malformed_rows_is_obeyed():
    assert sets_aside(declared()) and sets_aside(declared("CSV", mode="permissive"))
    assert not sets_aside(declared(mode="FAILFAST"))
    assert not sets_aside(declared(columnNameOfCorruptRecord="bad"))
    assert not sets_aside(declared("parquet"))


LINES = """\
1704067200500,01/02/2024 03:04,1.5
1704067201000,nonsense,2.5
soon,01/02/2024 03:04,3.5
1704067202000,01/02/2024 03:04,fast
1704067203000
"""


def test_times_come_from_numbers_and_texts_and_malformed_rows_as_rows_of_nulls(spark, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text(LINES)
    options = {"unit__ts": "ms", "pattern__seen": "dd/MM/yyyy HH:mm", "column__speed": "velocity"}
    df = read_stream(spark, declared("csv", path=str(tmp_path / "in"), **options))
    # One column alone is asked for: mistakes in the others must be noticed all the same.
    finish(df.select("ts"), tmp_path / "narrow", "narrow")
    assert sorted(str(row.ts) for row in spark.table("narrow").collect()) == [
        "2024-01-01 00:00:00.500000",
        "2024-01-01 00:00:01",
        "None",
        "None",
        "None",
    ]
    finish(df, tmp_path / "wide", "wide")
    rows = {row[RAW]: row for row in spark.table("wide").collect()}
    assert set(rows) == {None, *LINES.splitlines()[2:]}
    assert all(row.ts is row.seen is row.speed is None for raw, row in rows.items() if raw)
    assert rows[LINES.splitlines()[3]][REASON] == "it is malformed: no value for velocity"
    whole = sorted((str(row.seen), row.speed) for row in spark.table("wide").collect() if row[RAW] is None)
    assert whole == [("2024-02-01 03:04:00", 1.5), ("None", 2.5)]


def test_poison_in_a_replayed_trace_comes_as_rows_of_nulls(spark, tmp_path):
    trace = tmp_path / "trace.csv"
    trace.write_text("ts,seen,speed\n" + LINES.replace("01/02/2024 03:04", "1704067200000"))
    options = {"path": str(trace), "event": "ts", "arrival": "seen", "batch": "2 rows"}
    df = read_stream(spark, declared("replay", **options))
    query = finish(df, tmp_path / "check", "replayed_poison")
    rows = spark.table("replayed_poison").collect()
    assert len(rows) == len(LINES.splitlines())
    assert sum(event["numInputRows"] for event in query.recentProgress) == len(rows)
    assert sorted(row.speed for row in rows if row[RAW] is None and row.ts) == [1.5, 2.5]
    assert {row[RAW] for row in rows if row[REASON]} >= {"1704067203000"}
    assert sum(row.ts is None for row in rows) == 3
