"""A changelog applied to a PostgreSQL table leaves exactly the live rows, whatever the cut into batches."""

import random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slackwater.algebra.schema import Field
from slackwater.errors import RunError
from slackwater.spark.io.sinks.net import net
from slackwater.spark.io.sinks.postgres.batches import WrittenBatch
from slackwater.spark.io.sinks.postgres.keyed import Keyed
from slackwater.spark.io.sinks.postgres.server import Server
from slackwater.spark.io.sinks.postgres.table import Target

pytestmark = pytest.mark.long

KEY = ("kind", "id")
FIELDS = (
    Field("kind", "string"),
    Field("id", "int"),
    Field("n", "bigint"),
    Field("_valid_from", "timestamp"),
    Field("_valid_to", "timestamp"),
)
Change = tuple[str, tuple, int | None, int, int | None]
"""Type, key, value, and from when to when it holds, in seconds."""


def changelog(changes: list[Change], key: tuple[str, ...] = KEY) -> pa.Table:
    stamp = pa.timestamp("us", "UTC")
    times = [[None if c[i] is None else c[i] * 1_000_000 for c in changes] for i in (3, 4)]
    columns = {name: [c[1][place] for c in changes] for place, name in enumerate(key)}
    kinds = {"kind": pa.string(), "id": pa.int32()}
    return pa.table(
        {
            "_change_type": pa.array([c[0] for c in changes], pa.string()),
            **{name: pa.array(values, kinds[name]) for name, values in columns.items()},
            "n": pa.array([c[2] for c in changes], pa.int64()),
            "_valid_from": pa.array(times[0], stamp),
            "_valid_to": pa.array(times[1], stamp),
        }
    )


def keyed(database, key: tuple[str, ...] = KEY, **options: bool) -> Keyed:
    fields = tuple(field for field in FIELDS if field.name in (*key, "n", "_valid_from", "_valid_to"))
    writer = Keyed(Server.of("out", database.options), Target.of("out", database.options, fields, key), **options)
    writer.open()
    return writer


def live(changes: list[Change], now: int) -> set[tuple]:
    """Return the live rows at a time, by applying the changes to a dictionary one by one."""
    table: dict[tuple, tuple] = {}
    for kind, key, value, _, until in sorted(changes, key=lambda change: change[3]):
        if kind in ("delete", "update_preimage"):
            table.pop(key, None)
        else:
            table[key] = (value, until)
    return {(*key, value) for key, (value, until) in table.items() if until is None or until > now}


def random_changes(seed: int, steps: int) -> list[Change]:
    rng = random.Random(seed)
    keys = [(kind, number) for kind in ("a", None) for number in (1, 2, None)]
    changes: list[Change] = []
    for step in range(steps):
        key, time = rng.choice(keys), step // 3
        if rng.random() < 0.3:
            changes.append((rng.choice(["delete", "update_preimage"]), key, None, time, time))
        else:
            until = rng.choice([None, time + 1, time + 5, time + 40])
            changes.append((rng.choice(["insert", "update_postimage"]), key, rng.randrange(100), time, until))
    return changes


@pytest.mark.parametrize("seed", range(6))
def test_after_every_batch_the_table_has_the_live_rows(database, seed):
    writer, rng = keyed(database), random.Random(seed)
    changes, done = random_changes(seed, 90), 0
    for batch in range(12):
        more = rng.randrange(16)
        part = changes[done : done + more]
        done += len(part)
        now = (done - 1) // 3 if done else 0
        for _ in range(rng.choice([1, 1, 2])):  # a batch may be repeated
            writer.write(changelog(part), WrittenBatch("p", "run", batch, now * 1_000))
        assert set(database.rows("SELECT kind, id, n FROM out")) == live(changes[:done], now)
    assert done > 60


changes_of_a_batch = st.lists(
    st.tuples(
        st.sampled_from(["insert", "delete", "update_preimage", "update_postimage"]),
        st.tuples(st.sampled_from(["a", None]), st.sampled_from([1, None])),
        st.integers(0, 9),
        st.integers(0, 3),
        st.none(),
    ),
    max_size=12,
)


@settings(max_examples=200)
@given(changes_of_a_batch)
def test_the_net_effect_is_the_last_word_on_each_key(changes):
    found = net(changelog(changes), KEY).to_pylist()
    last = {change[1]: change for change in sorted(changes, key=lambda change: change[3])}
    ends = {"update_preimage": "delete", "update_postimage": "insert"}
    expected = {(*key, ends.get(kind, kind), n) for key, (kind, _, n, _, _) in last.items()}
    assert {(row["kind"], row["id"], row["_change_type"], row["n"]) for row in found} == expected
    assert len(found) == len(last)


def test_a_late_change_never_destroys_a_newer_row(database):
    writer = keyed(database, ("id",))
    writer.write(changelog([("insert", (1,), 10, 50, None)], ("id",)), WrittenBatch("p", "r", 0))
    late = [("delete", (1,), None, 40, 40)], [("insert", (1,), 9, 30, None)], [("delete", (1,), None, 50, 50)]
    for batch, changes in enumerate(late, 1):
        writer.write(changelog(changes, ("id",)), WrittenBatch("p", "r", batch))
        assert database.rows("SELECT n FROM out") == ([(10,)] if batch < 3 else [])


def test_a_result_without_a_key_is_one_row(database):
    writer = keyed(database, ())
    writer.write(changelog([("insert", (), 1, 0, None), ("insert", (), 2, 1, None)], ()), WrittenBatch("p", "r", 0))
    writer.write(changelog([("delete", (), None, 2, 2), ("insert", (), 3, 2, None)], ()), WrittenBatch("p", "r", 1))
    assert database.rows("SELECT n FROM out") == [(3,)]
    writer.write(changelog([("delete", (), None, 4, 4)], ()), WrittenBatch("p", "r", 2))
    assert database.rows("SELECT n FROM out") == []
    again = keyed(database, ())
    again.write(changelog([("insert", (), 5, 6, None)], ()), WrittenBatch("p", "r", 3))
    assert database.rows("SELECT n FROM out") == [(5,)]


def test_rows_leave_when_the_punctuation_has_passed_their_end(database):
    writer = keyed(database, ("id",))
    rows = [("insert", (1,), 1, 0, 5), ("insert", (2,), 2, 0, 10), ("insert", (3,), 3, 0, None)]
    writer.write(changelog(rows, ("id",)), WrittenBatch("p", "r", 0, 4_000))
    none = changelog([], ("id",))
    for batch, (punctuation, left) in enumerate([(4_999, [1, 2, 3]), (5_000, [2, 3]), (10**17, [3])], 1):
        writer.write(none, WrittenBatch("p", "r", batch, punctuation))
        assert [row[0] for row in database.rows("SELECT id FROM out ORDER BY id")] == left
    assert database.rows("SELECT punctuation = 'infinity' FROM slackwater_batches") == [(True,)]


def test_another_run_needs_an_empty_table_or_makes_it_one(database):
    rows = changelog([("insert", (1,), 1, 0, None)], ("id",))
    keyed(database, ("id",)).write(rows, WrittenBatch("p", "first", 0))
    with pytest.raises(RunError, match="rows of another run") as caught:
        keyed(database, ("id",)).write(changelog([], ("id",)), WrittenBatch("p", "second", 0))
    assert caught.value.code == "SW-536"
    assert database.rows("SELECT id FROM out") == [(1,)]
    keyed(database, ("id",), clear=True).write(changelog([], ("id",)), WrittenBatch("p", "second", 0))
    assert database.rows("SELECT id FROM out") == []


@pytest.mark.parametrize(
    ("table", "code"),
    [
        ("id int, n bigint, _valid_from timestamptz, _valid_to timestamptz", "SW-535"),
        ("id int UNIQUE, n int, _valid_from timestamptz, _valid_to timestamptz", "SW-534"),
    ],
)
def test_a_table_that_cannot_be_kept_up_to_date_is_refused(database, table, code):
    database.connection.execute(f"CREATE TABLE out ({table})")
    with pytest.raises(RunError) as caught:
        keyed(database, ("id",))
    assert caught.value.code == code


def test_a_table_of_the_users_own_will_do(database):
    database.connection.execute(
        "CREATE TABLE out (id int PRIMARY KEY, n bigint, _valid_from timestamptz, _valid_to timestamptz, seen int)"
    )
    writer = keyed(database, ("id",))
    writer.write(changelog([("insert", (1,), 1, 0, None)], ("id",)), WrittenBatch("p", "r", 0))
    assert database.rows("SELECT id, n, seen FROM out") == [(1, 1, None)]
