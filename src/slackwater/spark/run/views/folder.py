"""The folder of a kept view: its definition, its log, the checkpoint of its query, and the claim of its run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from slackwater.algebra.catalog import ViewDef
from slackwater.algebra.document import to_document
from slackwater.errors import RunError
from slackwater.spark.run.plan_differences import difference
from slackwater.spark.run.views.claims import Claim, claim, waiting_claim
from slackwater.spark.store import Location

DEFINITION = "view.json"
READ = "views.json"
"""The file in the checkpoint of a reader that names the logs it has read."""


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder of a view. `id` identifies its log: a later log under the same name has other rows."""

    path: Location
    id: str

    @property
    def log(self) -> Location:
        return self.path / "log"

    @property
    def checkpoint(self) -> Location:
        return self.path / "checkpoint"

    def claim(self) -> Claim | None:
        """Return the claim on the view, or None if another run keeps the view."""
        return claim(self.path / "lock")


def open_folder(place: Location, view: ViewDef) -> Folder:
    """Return the folder of a view, created if it is new. Raise an error if it belongs to another definition."""
    path = place / quote(view.name.lower(), safe="")
    mine = json.loads(json.dumps(to_document(view.query)))
    kept = _made(path, mine)
    change = difference(kept["view"], mine)
    if change is not None:
        raise _refused(view.name, path, f"is defined otherwise: {change}")
    folder = Folder(path, kept["id"])
    if not (folder.checkpoint / "metadata").exists() and folder.log.list(r".*\.parquet"):
        raise _refused(view.name, path, "has rows but no checkpoint to go on from")
    return folder


def admit_logs(checkpoint: Location, folders: Mapping[str, Folder]) -> None:
    """Raise an error if the checkpoint of a reader has read other logs; else record the logs in it."""
    file, mine = checkpoint / READ, {name: folder.id for name, folder in sorted(folders.items())}
    kept = _read(file) or {}
    for name, known in kept.items():
        if name in mine and mine[name] != known:
            raise RunError(
                "SW-513",
                f"the checkpoint '{checkpoint}' has read another log of the view '{name}'",
                expected=f"the log {known}",
                hint="delete the checkpoint to read the new log from its beginning, and give its rows a new place",
            )
    if mine and mine != kept:
        file.write(json.dumps(mine))


def _made(path: Location, mine: Any) -> Any:
    """Return the definition in a folder. If it has none, write `mine` with a new id; one of several runs does."""
    file = path / DEFINITION
    found = _read(file)
    if found is None:
        path.make()
        with waiting_claim(path / "making"):
            found = _read(file)
            if found is None:
                file.write(json.dumps({"id": uuid4().hex, "view": mine}))
                found = _read(file)
    return found


def _read(file: Location) -> Any:
    text = file.text()
    try:
        return None if text is None else json.loads(text)
    except ValueError as cause:
        raise RunError("SW-514", f"'{file}' is torn", hint="restore it from a copy, or delete its folder") from cause


def _refused(name: str, path: Location, why: str) -> RunError:
    return RunError(
        "SW-512",
        f"the view '{name}' that is kept in '{path}' {why}",
        expected="the view that began this folder",
        hint="give the view another name or --views another folder, or delete this one to begin anew",
    )
