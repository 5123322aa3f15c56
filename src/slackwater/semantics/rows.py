"""Rows as the interpreter holds them, and what a run answers. Times are whole microseconds throughout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Value: TypeAlias = Any
Values: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Marks:
    """The pseudo-columns of an instant (language.md); None where the instant has no such thing."""

    row_time: int | None = None
    row_number: int | None = None
    window_start: int | None = None
    window_end: int | None = None


@dataclass(slots=True, eq=False)
class Row:
    """A row of a stream, or of the relation at an instant; two rows are the same only if they are the same object.

    `batch` is the batch in which the row can be seen: of its arrival in a record store, of its release in a sequence.
    `new` says that the row that caused the instant takes part in this one.
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
        """The place in the sequence: event time, arrival (none before any), position in the source."""
        return self.place_in(0)

    def place_in(self, leaf: int) -> tuple[int, ...]:
        """The place among the rows of several inputs: after event time and arrival, from left to right."""
        return (self.time, self.arrival is not None, self.arrival or 0, leaf, self.position)


@dataclass(frozen=True, slots=True)
class Instant:
    """When and over what an operator is evaluated.

    At a row, or every so many rows, `cause` is that row, and `leaf` the number of the operator that it came in by.
    At a boundary there is none, and `boundary` is the end of the extent. `part` is the part of a partitioned window
    that is evaluated, None for all. `whole`: the whole relation is emitted, not only what the cause contributes.
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
        """The place among the instants of all inputs."""
        return (self.time,) if self.cause is None else self.cause.place_in(self.leaf)


@dataclass(frozen=True, slots=True)
class Result:
    """A row of the answer: its columns, its event time, and the batch in which it appears."""

    row: Mapping[str, Value]
    time: int
    batch: int


@dataclass(frozen=True, slots=True)
class Sync:
    """The sync tuple of an extent: every row of the extent that ends at `window_end` has appeared."""

    window_end: int
    batch: int


@dataclass(frozen=True, slots=True)
class Late:
    """A row behind the punctuation of its stream when it came; `missed` is how many of its windows it missed.

    Where a row has a place instead (row-level instants, counts, sampling), `missed` is 1 if the place was gone.
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
    """A row that can have no place: its event time is NULL, or (refused) its key is live on a changelog already."""

    stream: str
    alias: str
    row: Mapping[str, Value]
    batch: int


@dataclass(frozen=True, slots=True)
class Change:
    """A tuple of a changelog: `insert` with its lifetime [valid_from, valid_to), `delete` at a point in time.

    `valid_to` is None where the end is not known. `number` says which tuple it is: a delete has the number of the
    insert that it ends, which is what the key tells a reader.
    """

    type: str
    row: Mapping[str, Value]
    valid_from: int
    valid_to: int | None
    batch: int
    number: int


@dataclass(frozen=True, slots=True)
class Answer:
    """All that a run yields. `rows` and `changes` are in the order of the output."""

    rows: tuple[Result, ...] = ()
    syncs: tuple[Sync, ...] = ()
    late: tuple[Late, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    refused: tuple[Rejected, ...] = ()
    changes: tuple[Change, ...] = ()

    @property
    def lost(self) -> tuple[Late, ...]:
        """The late rows that missed something."""
        return tuple(row for row in self.late if row.lost)
