"""The interpreter's rows, and the answer of a run. All times are whole microseconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Value: TypeAlias = Any
Values: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Marks:
    """The pseudo-columns of an instant; None for those that the instant does not have."""

    row_time: int | None = None
    row_number: int | None = None
    window_start: int | None = None
    window_end: int | None = None


@dataclass(slots=True, eq=False)
class Row:
    """A row of a stream, or of the relation at an instant. Rows are compared by identity.

    `batch` is the batch from which the row is visible: the batch of its arrival in a record store, of its release in a
    sequence. `new` says that the row that caused the instant contributes to this row.
    """

    values: Values
    time: int
    batch: int = 0
    arrival: int | None = None
    position: int = 0
    marks: Marks = field(default_factory=Marks)
    new: bool = False

    @property
    def place(self) -> tuple[int, ...]:
        """Return the position in the sequence: event time, arrival (rows without one first), position in the source."""
        return self.place_in(0)

    def place_in(self, leaf: int) -> tuple[int, ...]:
        """Return the position among the rows of several inputs: event time, arrival, then inputs from left to right."""
        return (self.time, self.arrival is not None, self.arrival or 0, leaf, self.position)


@dataclass(frozen=True, slots=True)
class Instant:
    """A point at which an operator is evaluated, and the rows over which it is.

    At a row, or at every n-th row, `cause` is that row and `leaf` the number of the operator that it came in by. At a
    boundary `cause` is None and `boundary` is the end of the extent. `part` is the evaluated part of a partitioned
    window, None for all. With `whole` the whole relation is emitted, otherwise only the contribution of the cause.
    """

    time: int
    cause: Row | None = None
    leaf: int = 0
    boundary: int | None = None
    part: Values | None = None
    whole: bool = True
    batch: int = 0

    @property
    def place(self) -> tuple[int, ...]:
        """Return the position among the instants of all inputs."""
        return (self.time,) if self.cause is None else self.cause.place_in(self.leaf)


@dataclass(frozen=True, slots=True)
class Result:
    """A row of the answer: its columns, its event time, and the batch in which it appears."""

    row: Mapping[str, Value]
    time: int
    batch: int


@dataclass(frozen=True, slots=True)
class Sync:
    """The sync tuple of an extent: all result rows of the extent that ends at `window_end` have appeared."""

    window_end: int
    batch: int


@dataclass(frozen=True, slots=True)
class Late:
    """A row behind the punctuation of its stream when it arrived; `missed` counts the windows that it missed.

    If the plan reads rows by position (row-level instants, counts, sampling), `missed` is 1 if the position was
    released.
    """

    stream: str
    alias: str
    row: Mapping[str, Value]
    late_by: int
    punctuation: int
    missed: int
    batch: int

    @property
    def lost(self) -> bool:
        return self.missed > 0


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row without an event time, or a refused change, such as an insert whose key is live already."""

    stream: str
    alias: str
    row: Mapping[str, Value]
    batch: int


@dataclass(frozen=True, slots=True)
class Change:
    """A tuple of a changelog: `insert` with its lifetime [valid_from, valid_to), `delete` at a point in time.

    `valid_to` is None if the end is not known. `number` identifies the tuple: a delete has the number of the insert
    that it ends. Readers of a real changelog use the key instead.
    """

    type: str
    row: Mapping[str, Value]
    valid_from: int
    valid_to: int | None
    batch: int
    number: int


@dataclass(frozen=True, slots=True)
class Answer:
    """The output of a run. `rows` and `changes` are in output order."""

    rows: tuple[Result, ...] = ()
    syncs: tuple[Sync, ...] = ()
    late: tuple[Late, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    refused: tuple[Rejected, ...] = ()
    changes: tuple[Change, ...] = ()

    @property
    def lost(self) -> tuple[Late, ...]:
        """Return the late rows that missed at least one window."""
        return tuple(row for row in self.late if row.lost)
