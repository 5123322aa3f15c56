"""Pipelines of six kinds, and a view that two of them read: killed at named points, they answer as if they were not."""

from collections import Counter
from collections.abc import Callable
from itertools import chain, cycle, islice
from pathlib import Path

import pytest
from tests.faults.pipelines import (
    QUERIES,
    ROWS,
    TABLE,
    answers,
    arrived,
    finish,
    kept,
    logged,
    script,
    spawn,
    strike,
    wait_until,
)
from tests.postgres import schema_on

Point = Callable[[Path, Path, int], bool]
POINTS: dict[str, Point] = {
    "the sink is done": lambda _, out, batch: _owned(out, batch),
    "the offsets are written": lambda check, _, batch: (check / "offsets" / str(batch)).exists(),
    "the sink has files that it does not own yet": lambda check, out, batch: (
        (check / "offsets" / str(batch)).exists() and any(out.glob("*.parquet")) and not _owned(out, batch)
    ),
}
"""Moments within a batch, before it is committed."""
VIEW = "halves"
FIRST = {VIEW: 2}
"""The first batch that is struck in, if it is not the second of all: nothing is logged before a window has closed."""
STRUCK = ("joined", "mixed", "nested", "overlapping", "nested_rows", "tumbling", "joined")
"""The pipelines whose batches are struck in, in turns: not a multiple of the points, so that all meet. The query of the
view comes first: it runs to its end before its readers begin."""
ROW_WISE = ("mixed", "nested_rows")
"""These and the table are struck in one run, the others in another: what cannot be struck need not be started."""


def _owned(out: Path, batch: int) -> bool:
    """Return whether a sink of Spark's, or the log of a view, has the batch as a whole."""
    return (out / "_spark_metadata" / str(batch)).exists() or (out / f"{batch:09d}.parquet").exists()


def places(folder: Path, name: str) -> tuple[Path, Path]:
    """Return the checkpoint of a query, and where it writes."""
    own = folder / "check.views" / name
    return (own / "checkpoint", own / "log") if name == VIEW else (folder / "check" / name, folder / "out" / name)


def killed_at(folder: Path, text: str, name: str, point: Point) -> bool:
    """Kill a run when a batch of the query `name` has reached a point; return whether the batch was unfinished."""
    check, out = places(folder, name)
    batch = max(FIRST.get(name, 1), 1 + max((int(each.name) for each in (check / "commits").glob("[0-9]*")), default=0))
    process = spawn(folder, text)
    wait_until(lambda: point(check, out, batch), process)
    strike(process)
    return point(check, out, batch) and not (check / "commits" / str(batch)).exists()


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_killed_pipelines_resume_to_the_identical_answers(spark, server, database, tmp_path, request):
    hit, spared = tmp_path / "hit", tmp_path / "spared"
    arrived(hit / "in")
    table = TABLE.format(options=database.clause)
    apart = script(hit, [name for name in QUERIES if name not in ROW_WISE]), script(hit, ROW_WISE) + table
    kills = request.config.getoption("kills", default=3)
    struck_in = islice(zip(chain([VIEW], cycle(STRUCK)), cycle(POINTS.values()), strict=False), kills)
    caught = [killed_at(hit, apart[name in ROW_WISE], name, point) for name, point in struck_in]
    assert sum(caught) >= min(kills, 2), "the kills came too late to be in mid-batch"
    told = finish(hit, script(hit) + table)
    arrived(spared / "in")
    with schema_on(server) as unharmed:
        told_there = finish(spared, script(spared) + TABLE.format(options=unharmed.clause))
        assert kept(database) == kept(unharmed)
    assert sum(n for _, n, _ in kept(database)) == ROWS
    rows = answers(spark, hit)
    assert rows == answers(spark, spared)
    assert logged(hit) == logged(spared) != Counter()
    assert all(sum(each.values()) > 2 for each in rows.values())
    assert _accounts(told) == _accounts(told_there) != []


def _accounts(shown: str) -> list[str]:
    """Return the line of each pipeline that counts its rows: in, on time, late and rejected."""
    return sorted(line.split(";")[0].strip() for line in shown.splitlines() if "rows in =" in line)
