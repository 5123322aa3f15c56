"""Claims: of several runs, one keeps a view.

On this machine a claim is a lock of the operating system, which ends with its process. A store has no locks. There a
claim is a file that its owner writes anew every few seconds; a claim that stays the same is that of a run that is gone.
Should its owner only have been paused, both write the log of the view, and Spark stops the one whose batch is logged.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import IO, Protocol, Self
from uuid import uuid4

from slackwater.spark.store import LocalFiles, Location

BEAT = 2.0
"""Seconds between two signs of life. Longer: a run that follows a killed one waits longer. Shorter: more requests."""
PAUSE = 0.05
"""Seconds between two attempts at a claim that is waited for."""
MISSED = 3
"""So many signs of life must be missing before a claim counts as given up."""


class Claim(Protocol):
    """What is claimed until it is closed."""

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class Lock:
    """A claim on this machine."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file

    def close(self) -> None:
        self.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Lease:
    """A claim in a store: a thread writes a sign of life until the claim is closed."""

    def __init__(self, file: Location, beat: float) -> None:
        self.file = file
        self.owner = uuid4().hex
        self.beat = beat
        self.over = Event()
        self._sign(0)
        self.thread = Thread(target=self._live, daemon=True)
        self.thread.start()

    def _sign(self, number: int) -> None:
        self.file.write(f"{self.owner} {number}")

    def _live(self) -> None:
        number = 0
        while not self.over.wait(self.beat):
            number += 1
            self._sign(number)

    def close(self) -> None:
        self.over.set()
        self.thread.join()
        self.file.remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def claim(file: Location, beat: float = BEAT) -> Claim | None:
    """Return a claim; None where another run has it."""
    if isinstance(file.files, LocalFiles):
        return _lock(file)
    return None if _is_alive(file, beat) else Lease(file, beat)


@contextmanager
def waiting_claim(file: Location) -> Iterator[None]:
    """Wait for a claim, and give it up at the end."""
    while (mine := claim(file)) is None:
        time.sleep(PAUSE)
    with mine:
        yield


def _lock(file: Location) -> Lock | None:
    opened = open(str(file), "ab")  # noqa: SIM115, PTH123 (it is open for as long as it is claimed)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        opened.close()
        return None
    return Lock(opened)


def _is_alive(file: Location, beat: float) -> bool:
    """Return whether somebody gives signs of life."""
    before = file.text()
    for _ in range(MISSED if before is not None else 0):
        time.sleep(beat)
        if (now := file.text()) not in (None, before):
            return True
        if now is None:
            return False
    return False
