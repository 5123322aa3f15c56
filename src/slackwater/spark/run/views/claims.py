"""Claims: exactly one of several runs keeps a view.

On this machine a claim is a lock of the operating system, which ends with its process. Remote stores have no locks.
There a claim is a file that its owner rewrites every few seconds; if the file stops changing, its run has ended. If the
owner was only paused, two runs write the log of the view, and Spark stops the one whose batch is already logged.
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
"""Seconds between two signs of life. Larger: the run after a killed one waits longer. Smaller: more requests."""
PAUSE = 0.05
"""Seconds between two attempts at a claim. Larger: a waiting run starts later. Smaller: more attempts."""
MISSED = 3
"""The number of missing signs of life after which a claim is given up. Larger: the next run waits longer."""


class Claim(Protocol):
    """A claim that holds until it is closed."""

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
    """A claim in a remote store: a thread writes signs of life until the claim is closed."""

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
    """Return a claim, or None if another run has it."""
    if isinstance(file.files, LocalFiles):
        return _lock(file)
    return None if _is_alive(file, beat) else Lease(file, beat)


@contextmanager
def waiting_claim(file: Location) -> Iterator[None]:
    """Wait for a claim, and release it at the end."""
    while (mine := claim(file)) is None:
        time.sleep(PAUSE)
    with mine:
        yield


def _lock(file: Location) -> Lock | None:
    opened = open(str(file), "ab")  # noqa: SIM115, PTH123 (it stays open as long as it is claimed)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        opened.close()
        return None
    return Lock(opened)


def _is_alive(file: Location, beat: float) -> bool:
    """Return whether the owner of a claim gives signs of life."""
    before = file.text()
    for _ in range(MISSED if before is not None else 0):
        time.sleep(beat)
        if (now := file.text()) not in (None, before):
            return True
        if now is None:
            return False
    return False
