"""Which query a checkpoint belongs to: the state of one query must not be read as that of another."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from slackwater.algebra.document import to_document
from slackwater.algebra.nodes import Aggregate, Emit, Plan, Project, Select
from slackwater.errors import RunError
from slackwater.spark.batches import last_batch
from slackwater.spark.planner.ways import Host, way_of
from slackwater.spark.run.differences import difference

FILE = "slackwater.json"


def admit(plan: Plan, checkpoint: Path) -> None:
    """Lets a plan go on from a checkpoint, or refuses it; a new checkpoint becomes the plan's own.

    Under Spark's own operators what stands above the last of them that has state, the select list and HAVING, may
    change: it is no part of what the checkpoint holds.
    """
    _check_folder(checkpoint)
    file = checkpoint / FILE
    mine = {"host": way_of(plan).host.value, **to_document(_stateful(plan))}
    if file.exists():
        _compare(checkpoint, _read(file), json.loads(json.dumps(mine)))
        _clear(checkpoint / "offsets")
        _take_back(checkpoint)
        return
    if (checkpoint / "offsets").exists():
        raise _refused(checkpoint, f"it lacks {FILE}: it was made by something else")
    checkpoint.mkdir(parents=True, exist_ok=True)
    draft = checkpoint / f"_{FILE}"
    draft.write_text(json.dumps(mine))
    draft.rename(file)


def _check_folder(checkpoint: Path) -> None:
    """A folder, or nothing yet; and the file by which Spark knows a query again is whole."""
    if found := next((each for each in (checkpoint, *checkpoint.parents) if each.exists() and not each.is_dir()), None):
        raise RunError(
            "SW-517",
            f"the checkpoint '{checkpoint}' cannot be made: '{found}' is a file",
            expected="a folder, or a path at which nothing is",
            hint="give another --checkpoint",
        )
    metadata = checkpoint / "metadata"
    if not metadata.exists():
        return
    try:
        json.loads(metadata.read_text())["id"]
    except (ValueError, KeyError, TypeError) as cause:
        raise RunError(
            "SW-518",
            f"'{metadata}' is torn: it does not say which query the checkpoint is of",
            expected="what Spark wrote there",
            hint="bring it back from a copy, or give another --checkpoint, to begin anew",
        ) from cause


def _clear(log: Path) -> None:
    """Removes what is left of a log whose first entry was being written when the query was killed.

    Spark takes a new query's log that is not empty for that of another, and refuses it.
    """
    if not any(log.glob("[0-9]*")):
        for draft in log.glob(".*.tmp*"):
            draft.unlink()


def _take_back(checkpoint: Path) -> None:
    """Forgets files that a source had taken for a batch when the query was killed before that batch was logged.

    Spark would put the files of the next batch with them. What is late is a matter of batches, so that a query which is
    resumed has the batches of one that was never killed.
    """
    logged, done = last_batch(checkpoint, "offsets"), last_batch(checkpoint)
    if done is not None and (logged is None or done > logged):
        return
    lines = [] if logged is None else (checkpoint / "offsets" / str(logged)).read_text().split("\n")[2:]
    offsets = dict(enumerate(map(_log_offset, lines)))
    for taken in checkpoint.glob("sources/*/[0-9]*"):
        last = -1 if logged is None else offsets.get(int(taken.parent.name))
        if taken.name.isdigit() and last is not None and int(taken.name) > last and _lists_files(taken):
            taken.with_name(f".{taken.name}.crc").unlink(missing_ok=True)
            taken.unlink()


def _log_offset(line: str) -> int | None:
    """How far a file source had come; -1 if it has not begun, None if this is another source or torn."""
    if line == "-":
        return -1
    found = re.fullmatch(r'\{"logOffset":(\d+)\}', line)
    return int(found[1]) if found else None


def _lists_files(log: Path) -> bool:
    """Whether this is a file source's log: it names a file in every line but the first."""
    return log.read_text(errors="replace").split("\n", 1)[-1].startswith('{"path":')


def _stateful(plan: Plan) -> Plan:
    if way_of(plan).host is Host.FUSED or (isinstance(plan, Emit) and plan.sync):
        return plan
    top = plan
    while isinstance(top, Emit | Project | Select):
        top = top.child
    # Rows that are not aggregated are gathered as the select list has them.
    return top if isinstance(top, Aggregate) else plan


def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_text())
    except ValueError as cause:
        raise _refused(file.parent, f"its {FILE} is torn") from cause


def _compare(checkpoint: Path, kept: Any, mine: Any) -> None:
    change = difference(kept, mine)
    if change is not None:
        raise _refused(checkpoint, change)


def _refused(checkpoint: Path, why: str) -> RunError:
    return RunError(
        "SW-511",
        f"the checkpoint '{checkpoint}' is not that of this query: {why}",
        expected="the query that began it",
        hint="give another --checkpoint, or delete this one, to begin anew: then its rows need a new place, too",
    )
