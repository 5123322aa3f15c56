"""State in files of a query's checkpoint, one per batch, each written whole or not at all."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from slackwater.errors import RunError
from slackwater.spark.store import Location

KEPT = 100
"""The number of batches whose state is kept, as in Spark's own checkpoint."""
CHECKSUM = 4
CONTROL = "control"
"""The folder of a checkpoint that has a folder of state for each control."""


@dataclass(frozen=True, slots=True)
class StateFiles:
    """The state of a control after each batch, by its number.

    A batch without input may have no file: it changes nothing, and at the beginning of a run no controller is asked.
    """

    checkpoint: Location
    control: str

    def after(self, number: int) -> Location:
        """Return the file with the state after a batch."""
        return self.checkpoint / CONTROL / self.control / str(number)

    def read(self, number: int) -> bytes | None:
        """Return the state before a batch; None before the first."""
        if number == 0:
            return None
        file = self.after(number - 1)
        found = file.read()
        if found is None and self._without_input(number - 1):
            return self.read(number - 1)
        if found is None:
            raise _broken(f"the state after batch {number - 1} is missing: {file}")
        state = found[CHECKSUM:]
        if len(found) < CHECKSUM or int.from_bytes(found[:CHECKSUM]) != zlib.crc32(state):
            raise _broken(f"the state after batch {number - 1} is torn: {file}")
        return state

    def _without_input(self, number: int) -> bool:
        """Return whether a batch read nothing: its offsets, from the third line of the log on, are those before it."""
        log = self.checkpoint / "offsets"
        after, before = ((log / str(each)).read() for each in (number, number - 1))
        return after is not None and before is not None and after.split(b"\n")[2:] == before.split(b"\n")[2:]

    def write(self, number: int, state: bytes) -> None:
        """Write the state after a batch, and remove an old one. A repeated batch writes the same again."""
        self.after(number).write(zlib.crc32(state).to_bytes(CHECKSUM) + state)
        if number >= KEPT:
            # A stream that is read twice has its control twice in a plan: both write and remove the same files.
            self.after(number - KEPT).remove()


def _broken(message: str) -> RunError:
    return RunError(
        "SW-523", message, hint="restore the checkpoint from a copy, or begin anew, with a new place for the rows"
    )
