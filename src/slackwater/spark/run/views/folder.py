"""The folder of a kept view: whose definition it is, its log, the checkpoint of its query, and who keeps it now."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote
from uuid import uuid4

from slackwater.algebra.catalog import ViewDef
from slackwater.algebra.document import to_document
from slackwater.errors import RunError
from slackwater.spark.run.differences import difference

DEFINITION = "view.json"
READ = "views.json"
"""In the checkpoint of a reader: which logs it has read from."""


@dataclass(frozen=True, slots=True)
class Folder:
    """`id` is that of the log: another one under the same name has other rows."""

    path: Path
    id: str

    @property
    def log(self) -> Path:
        return self.path / "log"

    @property
    def checkpoint(self) -> Path:
        return self.path / "checkpoint"

    def claim(self) -> IO[bytes] | None:
        """What keeps the view as long as it is open; None where another run keeps it."""
        lock = (self.path / "lock").open("ab")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            return None
        return lock


def open_folder(place: Path, view: ViewDef) -> Folder:
    """The folder of a view, made if it is new; an error if the name stands for something else there."""
    path = place / quote(view.name.lower(), safe="")
    mine = json.loads(json.dumps(to_document(view.query)))
    kept = _made(path, mine)
    change = difference(kept["view"], mine)
    if change is not None:
        raise _refused(view.name, path, f"is defined otherwise: {change}")
    folder = Folder(path, kept["id"])
    if not (folder.checkpoint / "metadata").exists() and any(folder.log.glob("*.parquet")):
        raise _refused(view.name, path, "has rows but no checkpoint to go on from")
    return folder


def admit_logs(checkpoint: Path, folders: Mapping[str, Folder]) -> None:
    """Lets a reader go on from its checkpoint, or refuses it: what it has read must be of the same logs."""
    file, mine = checkpoint / READ, {name: folder.id for name, folder in sorted(folders.items())}
    for name, known in (_read(file) if file.exists() else {}).items():
        if name in mine and mine[name] != known:
            raise RunError(
                "SW-513",
                f"the checkpoint '{checkpoint}' has read another log of the view '{name}'",
                expected=f"the log {known}",
                hint="delete the checkpoint to read the new log from its beginning, and give its rows a new place",
            )
    if mine:
        checkpoint.mkdir(parents=True, exist_ok=True)
        _write(file, mine)


def _made(path: Path, mine: Any) -> Any:
    """The definition that a folder has. Of two runs that make it at once, one is first."""
    file = path / DEFINITION
    if not file.exists():
        path.mkdir(parents=True, exist_ok=True)
        with (path / "making").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not file.exists():
                _write(file, {"id": uuid4().hex, "view": mine})
    return _read(file)


def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_text())
    except ValueError as cause:
        raise RunError("SW-514", f"'{file}' is torn", hint="restore it from a copy, or delete its folder") from cause


def _write(file: Path, content: Any) -> None:
    draft = file.with_name(f"_{file.name}")
    draft.write_text(json.dumps(content))
    draft.rename(file)


def _refused(name: str, path: Path, why: str) -> RunError:
    return RunError(
        "SW-512",
        f"the view '{name}' that is kept in '{path}' {why}",
        expected="the view that began this folder",
        hint="give the view another name or --views another folder, or delete this one to begin anew",
    )
