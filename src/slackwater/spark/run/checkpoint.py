"""Check that a checkpoint belongs to a query: the state of one query must not be read as that of another."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from slackwater.algebra.document import to_document
from slackwater.algebra.nodes import Aggregate, Emit, Plan, Project, Select
from slackwater.errors import RunError
from slackwater.spark.batches import last_batch
from slackwater.spark.planner.ways import Host, way_of
from slackwater.spark.refusals import REFUSALS, reason
from slackwater.spark.run.plan_differences import difference
from slackwater.spark.shim.versions import INSTALLED
from slackwater.spark.store import Location, locate

FILE = "slackwater.json"
FIRST_FORMAT, OLDEST_FORMAT, FORMAT = 1, 1, 1
"""Formats of checkpoints: the first, the oldest that is read, and the one that is written (docs/upgrades.md)."""
LOGS_KNOWN = ((4, 0), (4, 1), (4, 2), (4, 3))
"""The versions of Spark whose file source has the log that `_take_back` reads."""


def reach(address: str | Path, session: SparkSession) -> Location:
    """Return the location of an address; raise an error that says why if it cannot be reached."""
    try:
        place = locate(address, session)
        place.exists()
    except REFUSALS as cause:
        raise RunError(
            "SW-525",
            f"'{address}' cannot be reached: {reason(cause)}",
            expected="a path, or the address of a store that this Spark session can read",
            hint="give Spark the connector of the store (--conf spark.jars.packages=...), and what it needs to log in",
        ) from cause
    return place


def admit(plan: Plan, checkpoint: Location) -> None:
    """Check that a plan may continue from a checkpoint, or record the plan in a new checkpoint.

    If Spark's own operators run the plan, its select list and HAVING may change, because they are above the last
    operator with state and so the checkpoint holds nothing of them.
    """
    check_folder(checkpoint)
    mine = {"format": FORMAT, "host": way_of(plan).host.value, **to_document(_stateful(plan))}
    begun = (checkpoint / "offsets").exists()
    kept = (checkpoint / FILE).text()
    if kept is None and begun:
        raise _refused(checkpoint, f"it lacks {FILE}: it was made by something else")
    if kept is None:
        (checkpoint / FILE).write(json.dumps(mine))
        return
    _compare(checkpoint, _known_format(checkpoint, _parse(checkpoint, kept)), json.loads(json.dumps(mine)))
    _take_back(checkpoint)


def check_folder(checkpoint: Location) -> None:
    """Check that a checkpoint is a folder or does not exist yet, and that Spark's `metadata` file in it is readable."""
    if found := checkpoint.blocking_file():
        raise RunError(
            "SW-517",
            f"the checkpoint '{checkpoint}' cannot be made: '{found}' is a file",
            expected="a folder, or a path at which nothing is",
            hint="give another --checkpoint",
        )
    metadata = checkpoint / "metadata"
    text = metadata.text()
    if text is None:
        return
    try:
        json.loads(text)["id"]
    except (ValueError, KeyError, TypeError) as cause:
        raise RunError(
            "SW-518",
            f"'{metadata}' is torn: it does not say which query the checkpoint is of",
            expected="what Spark wrote there",
            hint="bring it back from a copy, or give another --checkpoint, to begin anew",
        ) from cause


def _take_back(checkpoint: Location) -> None:
    """Remove the entry of a file source's log for a batch that was never logged, so that the batch has the same files.

    Spark records the next files of a source before it logs the batch. If it is killed in between, it would read them
    in one batch together with the files after them, and which rows are late depends on batches. No public option of
    the source prevents this (docs/design/control.md), so the entry, which no batch refers to, is removed. This is done
    only on versions of Spark whose log is known, and only for a plain entry: a compacted one replaces earlier entries.
    """
    logged, done = last_batch(checkpoint, "offsets"), last_batch(checkpoint)
    if INSTALLED not in LOGS_KNOWN or (done is not None and (logged is None or done > logged)):
        return
    text = "" if logged is None else (checkpoint / "offsets" / str(logged)).text() or ""
    offsets = dict(enumerate(map(_log_offset, text.split("\n")[2:])))
    for source in (checkpoint / "sources").list(r"\d+"):
        last = -1 if logged is None else offsets.get(int(source.name))
        for entry in source.list(r"\d+"):
            if last is not None and int(entry.name) > last and _lists_files(entry.text() or ""):
                (source / f".{entry.name}.crc").remove()
                entry.remove()


def _log_offset(line: str) -> int | None:
    """Return the log offset of a file source: -1 if it has not begun, None if the line is torn or of another source."""
    if line == "-":
        return -1
    found = re.fullmatch(r'\{"logOffset":(\d+)\}', line)
    return int(found[1]) if found else None


def _lists_files(entry: str) -> bool:
    """Return whether an entry is of a file source's log: its second line names a file."""
    return entry.split("\n", 1)[-1].startswith('{"path":')


def _stateful(plan: Plan) -> Plan:
    if way_of(plan).host is Host.FUSED or (isinstance(plan, Emit) and plan.sync):
        return plan
    top = plan
    while isinstance(top, Emit | Project | Select):
        top = top.child
    # Without an aggregate the state holds rows with the columns of the select list, so that this must not change.
    return top if isinstance(top, Aggregate) else plan


def _known_format(checkpoint: Location, kept: Any) -> Any:
    """Return the record of a checkpoint; raise an error if this version cannot read its format.

    The first format had no number.
    """
    found = kept.get("format", FIRST_FORMAT)
    if not isinstance(found, int) or not OLDEST_FORMAT <= found <= FORMAT:
        raise RunError(
            "SW-524",
            f"the checkpoint '{checkpoint}' has format {found}",
            expected=f"a format from {OLDEST_FORMAT} to {FORMAT}, which this version of Slackwater reads",
            hint="go on with the version that wrote it, or begin anew with another --checkpoint (docs/upgrades.md)",
        )
    return {**kept, "format": FORMAT} if "slackwater" in kept else kept


def _parse(checkpoint: Location, kept: str) -> Any:
    try:
        return json.loads(kept)
    except ValueError as cause:
        raise _refused(checkpoint, f"its {FILE} is torn") from cause


def _compare(checkpoint: Location, kept: Any, mine: Any) -> None:
    change = difference(kept, mine)
    if change is not None:
        raise _refused(checkpoint, change)


def _refused(checkpoint: Location, why: str) -> RunError:
    return RunError(
        "SW-511",
        f"the checkpoint '{checkpoint}' is not that of this query: {why}",
        expected="the query that began it",
        hint="give another --checkpoint, or delete this one, to begin anew: then its rows need a new place, too",
    )
