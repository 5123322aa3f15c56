"""Rows added to a PostgreSQL table: every type as it was, every batch once, every refusal with its reason."""

from datetime import UTC, date, datetime
from decimal import Decimal

import psycopg
import pyarrow as pa
import pytest

from slackwater.algebra.schema import Field
from slackwater.errors import SlackwaterError
from slackwater.spark.io.sinks.postgres.append import Append
from slackwater.spark.io.sinks.postgres.batches import WrittenBatch
from slackwater.spark.io.sinks.postgres.server import Server
from slackwater.spark.io.sinks.postgres.table import Target

FIELDS = (Field("id", "bigint"), Field('Say "what"; --', "string"))
ROWS = pa.table([[1, 2, None], ["a", "", None]], names=[each.name for each in FIELDS])


def append(database, fields=FIELDS, table="out", **options: str) -> Append:
    options = database.options | {"table": table} | options
    writer = Append(Server.of("out", options), Target.of("out", options, fields))
    writer.open()
    return writer


def test_a_repeated_batch_changes_nothing_and_another_run_is_another(database):
    writer = append(database)
    for run, batch in (("a", 0), ("a", 0), ("a", 1), ("a", 1), ("a", 0), ("b", 0), ("b", 0)):
        writer.write(ROWS, WrittenBatch("p", run, batch))
    writer.write(ROWS, WrittenBatch("q", "a", 0))
    assert database.rows("SELECT * FROM out ORDER BY id LIMIT 8")[::4] == [(1, "a"), (2, "")]
    assert database.rows("SELECT count(*), count(id) FROM out") == [(12, 8)]
    found = database.rows("SELECT pipeline, run, batch FROM slackwater_batches ORDER BY 1, 2")
    assert found == [("p", "a", 1), ("p", "b", 0), ("q", "a", 0)]


def test_what_fails_in_the_middle_of_a_batch_leaves_neither_rows_nor_the_batch(database):
    database.connection.execute("CREATE TABLE out (id int CHECK (id < 3), note text)")
    writer = append(database, (Field("id", "int"), Field("note", "string")))
    rows = pa.table({"id": [1, 2, 3], "note": ["x", "y", "z"]})
    with pytest.raises(SlackwaterError, match="violates check constraint") as caught:
        writer.write(rows, WrittenBatch("p", "a", 0))
    assert caught.value.code == "SW-532"
    assert database.rows("SELECT count(*) FROM out") == [(0,)]
    database.connection.execute("ALTER TABLE out DROP CONSTRAINT out_id_check")
    writer.write(rows, WrittenBatch("p", "a", 0))
    assert database.rows("SELECT count(*) FROM out") == [(3,)]


def test_every_type_comes_back_as_it_was_sent(database):
    stamp = datetime(2024, 2, 29, 23, 59, 59, 999_999)
    values = {
        "b": ("boolean", pa.bool_(), True),
        "i": ("int", pa.int32(), -(2**31)),
        "l": ("bigint", pa.int64(), 2**63 - 1),
        "f": ("double", pa.float64(), 0.1 + 0.2),
        "s": ("string", pa.string(), 'quote " comma , line\n back\\slash \\. ü\u2028'),
        "n": ("decimal(20,5)", pa.decimal128(20, 5), Decimal("123456789012345.00001")),
        "d": ("date", pa.date32(), date(9999, 12, 31)),
        "t": ("timestamp", pa.timestamp("us", "UTC"), stamp.replace(tzinfo=UTC)),
        "z": ("timestamp", pa.timestamp("us", "Europe/Berlin"), stamp.replace(tzinfo=UTC)),
        "u": ("timestamp_ntz", pa.timestamp("us"), stamp),
        "j": ("array<int>", pa.string(), "[1, 2]"),
        "x": ("binary", pa.string(), "\\x00ff"),
    }
    fields = tuple(Field(name, kind) for name, (kind, _, _) in values.items())
    columns = {name: pa.array([value, None], arrow) for name, (_, arrow, value) in values.items()}
    append(database, fields).write(pa.table(columns), WrittenBatch("p", "a", 0))
    expected = [value for _, _, value in values.values()]
    expected[-2:] = [[1, 2], b"\0\xff"]
    assert database.rows("SELECT * FROM out WHERE b") == [tuple(expected)]
    assert database.rows("SELECT count(*) FROM out WHERE out IS NULL") == [(1,)]


def test_one_column_of_nulls_is_as_many_rows(database):
    append(database, (Field("s", "string"),)).write(pa.table({"s": [None, "", None]}), WrittenBatch("p", "a", 0))
    assert database.rows("SELECT count(*), count(s) FROM out") == [(3, 1)]


@pytest.mark.parametrize(
    ("table", "code", "told"),
    [
        ("CREATE TABLE out (id int, note text)", "SW-534", "has 'id' as integer, the query gives bigint"),
        ("CREATE TABLE out (id bigint)", "SW-534", "has no column 'note'"),
        ("CREATE TABLE out (id bigint, note text, more int NOT NULL)", "SW-534", "needs a value for 'more'"),
        ("CREATE TABLE out (id bigint, note timestamptz)", "SW-534", "as timestamp with time zone"),
    ],
)
def test_a_table_that_does_not_fit_is_refused_before_anything_runs(database, table, code, told):
    database.connection.execute(table)
    with pytest.raises(SlackwaterError, match=told) as caught:
        append(database, (Field("id", "bigint"), Field("note", "string")))
    assert caught.value.code == code


def test_a_table_with_wider_columns_and_more_of_them_will_do(database):
    database.connection.execute("CREATE TABLE out (note varchar, id numeric, more int, seen timestamptz DEFAULT now())")
    writer = append(database, (Field("id", "bigint"), Field("note", "string")))
    writer.write(pa.table({"id": [7], "note": ["x"]}), WrittenBatch("p", "a", 0))
    assert database.rows("SELECT id, note, more FROM out") == [(7, "x", None)]


def test_a_text_with_the_character_nul_is_refused_with_what_to_do(database):
    writer = append(database, (Field("s", "string"),))
    with pytest.raises(SlackwaterError, match="must not hold the character NUL") as caught:
        writer.write(pa.table({"s": ["a\0b"]}), WrittenBatch("p", "a", 0))
    assert caught.value.code == "SW-532"


def test_who_may_not_write_is_told_so_and_goes_on_after_a_grant(database):
    user = f"clerk_{database.schema}"
    database.connection.execute(f"CREATE TABLE out (s text); CREATE ROLE {user} LOGIN")
    fields = (Field("s", "string"),)
    with pytest.raises(SlackwaterError, match="permission denied for schema") as caught:
        append(database, fields, user=user)
    assert caught.value.code == "SW-531"
    database.connection.execute(f"GRANT ALL ON SCHEMA {database.schema} TO {user}")
    writer = append(database, fields, user=user)
    with pytest.raises(SlackwaterError, match="permission denied for table out") as caught:
        writer.write(pa.table({"s": ["x"]}), WrittenBatch("p", "a", 0))
    assert caught.value.code == "SW-531"
    database.connection.execute(f"GRANT ALL ON out TO {user}")
    writer.write(pa.table({"s": ["x"]}), WrittenBatch("p", "a", 0))
    assert database.rows("SELECT * FROM out") == [("x",)]
    database.connection.execute(f"DROP OWNED BY {user} CASCADE; DROP ROLE {user}")


def test_a_server_that_is_not_there_is_named_and_the_password_is_not(database, monkeypatch):
    monkeypatch.setenv("TOLLS", "high-tide")
    with pytest.raises(SlackwaterError, match=r"No such file|refused") as caught:
        append(database, host=f"{database.server}/nowhere", password_env="TOLLS")
    assert caught.value.code == "SW-530"
    assert "password in TOLLS" in str(caught.value)
    assert "high-tide" not in str(caught.value) + repr(caught.value.__cause__)
    assert "nowhere" in str(caught.value)


@pytest.mark.parametrize(
    ("options", "code"),
    [({"password": "x"}, "SW-451"), ({"tabel": "x"}, "SW-450"), ({"password_env": "NO_SUCH_VARIABLE"}, "SW-452")],
)
def test_options_that_cannot_be_right_are_refused(options, code):
    with pytest.raises(SlackwaterError) as caught:
        Server.of("out", options)
    assert caught.value.code == code


def test_the_server_asks_for_the_password_that_the_environment_has(database, monkeypatch):
    """What goes to the server is the value of the variable that the option names."""
    sent = {}
    monkeypatch.setattr(psycopg, "connect", lambda **given: sent.update(given) or 1 / 0)
    monkeypatch.setenv("TOLLS", "high-tide")
    with pytest.raises(ZeroDivisionError):
        append(database, password_env="TOLLS")
    assert sent["password"] == "high-tide"
