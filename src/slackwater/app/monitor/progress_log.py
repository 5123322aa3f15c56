"""The progress log: one line of JSON for each batch. It is read again for the history of earlier runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from slackwater.app.monitor.board import Event
from slackwater.errors import InputError


class ProgressLog:
    """Appends the progress records of a run to a file, each as soon as it comes."""

    def __init__(self, path: Path) -> None:
        try:
            self.file = path.open("a", encoding="utf-8")
        except OSError as cause:
            raise InputError(
                "SW-481", f"the progress log '{path}' cannot be written: {cause.strerror}",
                expected="a file in a folder that exists", hint="name another file with --progress-log",
            ) from cause  # fmt: skip

    def __enter__(self) -> ProgressLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.file.close()

    def enter(self, event: Event) -> None:
        """Write the record of a batch. Other events are not logged."""
        if event.get("kind") == "batch":
            self.file.write(json.dumps(event, separators=(",", ":")) + "\n")
            self.file.flush()


def read_log(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the records of a progress log, marked as `earlier`. Torn or foreign lines are skipped."""
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict) and event.get("kind") == "batch" and isinstance(event.get("at"), int):
                yield {**event, "earlier": True}
