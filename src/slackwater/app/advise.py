"""`slackwater advise`: how long should my watermark be, and what would I save?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slackwater.algebra.lengths import MICROSECONDS, Kind, Length
from slackwater.algebra.policies import DEFAULT_ESTIMATOR, DEFAULT_SKEW, ratio_text
from slackwater.app.advise_late import describe_late, with_names
from slackwater.app.live.notebook import advice_html
from slackwater.disorder import ESTIMATORS, Controller, controller
from slackwater.disorder.replay.optimum import optimum
from slackwater.disorder.replay.replaying import (
    Batches,
    Ints,
    Measures,
    batches_by_rows,
    batches_by_time,
    late_rows,
    replay,
)
from slackwater.disorder.replay.trace import AUTO, Trace, place_of
from slackwater.disorder.replay.yardsticks import Constant, best_constant, best_per_interval, newest
from slackwater.errors import InputError

MOST_FOR_OPTIMUM = 200_000
"""The largest number of rows for which the exact optimum is computed, which then takes about a minute."""
MOST = 0.5
"""The share of implausible rows above which a column is doubted to be a clock."""
A_YEAR = 365 * MICROSECONDS["day"]
FEWEST = 2
"""The smallest number of rows that can be replayed."""
A_SECOND = Length.of(1, "second")
NOT_COMPARED = ("slack", DEFAULT_ESTIMATOR)
"""`slack` keeps no ratio; the default is replayed first, and on its own."""


@dataclass(frozen=True, slots=True)
class AdviceLine:
    """One estimator or yardstick on the trace; times in seconds. A yardstick is only known afterwards."""

    name: str
    late_share: float
    mean_hold: float
    p99_hold: float | None
    mean_held: float | None
    worst_tenth: float | None
    yardstick: bool
    punctuation: Ints | None = None


@dataclass(frozen=True, slots=True)
class Advice:
    """The result of `advise`: the figures of a trace, and a line for each estimator and yardstick.

    `suspect` rows are stamped more than SKEW after their arrival. All figures and `batches` are of the other `rows`.
    `plain_late_share` is the share of these that Spark's own watermark loses, which suspect rows move.
    `holds` says what held the punctuation of the default estimator where it was at the end. `late` says who sent the
    rows that are late under it, and when; under the best constant delay if none is late.
    """

    trace: str
    rows: int
    suspect: int
    dratio: float
    lines: tuple[AdviceLine, ...]
    watermark_delay: float
    plain_late_share: float
    sentence: str
    notes: tuple[str, ...]
    batches: Batches
    warning: str = ""
    holds: str = ""
    late: str = ""

    def _repr_html_(self) -> str:
        return advice_html(self)

    def document(self) -> dict[str, Any]:
        """Return the advice as a dictionary that can be written as JSON, without the punctuations."""
        lines = [{key: value for key, value in asdict(line).items() if key != "punctuation"} for line in self.lines]
        return {
            "trace": self.trace,
            "rows": self.rows,
            "suspect": self.suspect,
            "dratio": self.dratio,
            "lines": lines,
            "watermark_delay_seconds": self.watermark_delay,
            "plain_watermark_late_share": self.plain_late_share,
            "advice": self.sentence,
            "notes": list(self.notes),
            "warning": self.warning,
            "holds": self.holds,
            "late": self.late,
        }


@dataclass(frozen=True, slots=True)
class AdviseRequest:
    """The arguments of `advise`: the trace, and the drop ratio to keep."""

    path: Path
    event: str
    arrival: str
    source: str | None = None
    dratio: float = 0.01
    unit: str = AUTO
    batch: Length = A_SECOND


def advise(request: AdviseRequest, progress: Callable[[str, int, int], None] | None = None) -> Advice:
    """Replay the trace through every estimator and compare it with the best choices in hindsight.

    `progress` is called with the name of the estimator, the number of rows replayed since its last call, and the
    number of all rows.
    """
    if not 0 < request.dratio < 1:
        raise InputError(
            "SW-413", f"{request.dratio} is no share to keep", expected="a share above 0% and below 100%",
            hint="state a drop ratio such as 1%",
        )  # fmt: skip
    recorded, senders, notes = read(request)
    batches = honest_rows(recorded, request)
    rows, late = len(batches.event), int(request.dratio * len(batches.event))
    suspect = len(recorded.event) - rows
    if suspect:
        skew = Length(DEFAULT_SKEW, Kind.TIME)
        notes.append(f"{suspect:,} rows are suspect and left out: stamped more than {skew} after their arrival")
    if rows > MOST_FOR_OPTIMUM:
        notes.append(f"the optimum is left out: the trace has more than {MOST_FOR_OPTIMUM:,} rows")
    delay = best_constant(batches, late, "newest")
    fixed, plain = max(0.0, _seconds(delay.delay)), plain_late_share(recorded, max(0, delay.delay))
    default = controller(request.dratio, skew=DEFAULT_SKEW)
    lines = [*_estimators(batches, request.dratio, default, progress), *_yardsticks(batches, late, delay)]
    return Advice(
        str(request.path),
        rows,
        suspect,
        request.dratio,
        tuple(lines),
        fixed,
        plain,
        _sentence(request.dratio, lines, fixed, plain if suspect else None),
        tuple(notes),
        batches,
        doubt(recorded.event, recorded.arrival),
        with_names(default.explain(), senders),
        _late(batches, lines, senders, f"DRATIO {ratio_text(request.dratio)}", fixed),
    )


def _late(batches: Batches, lines: Sequence[AdviceLine], senders: Sequence[str], ratio: str, fixed: float) -> str:
    """Return who is late under the default estimator, or else under the best constant delay."""
    constant = next(line for line in lines if line.name.startswith("best constant (newest)"))
    for line, under in ((lines[0], ratio), (constant, f"a fixed delay of {fixed:.3f} s")):
        if line.punctuation is not None and (said := describe_late(batches, line.punctuation, senders, under)):
            return said
    return ""


def _estimators(
    batches: Batches, dratio: float, default: Controller, progress: Callable[[str, int, int], None] | None
) -> Iterator[AdviceLine]:
    """Replay the rows through the default controller, and through every other estimator that keeps a ratio."""
    others = {name: controller(dratio, name, skew=DEFAULT_SKEW) for name in sorted({*ESTIMATORS} - {*NOT_COMPARED})}
    for name, observer in {DEFAULT_ESTIMATOR: default, **others}.items():
        told = None if progress is None else _counting(progress, name, len(batches.event))
        punctuation, found = replay(batches, observer, told)
        yield _line(name, found, punctuation)


def _yardsticks(batches: Batches, late: int, delay: Constant) -> Iterator[AdviceLine]:
    """Return one line for each best choice in hindsight; `delay` is the best constant behind the newest row."""
    now, each = best_constant(batches, late, "now"), best_per_interval(batches, late)
    yield _line("best constant (newest)", delay.measures, delay.punctuation, yardstick=True)
    yield _line("best constant (clock)", now.measures, now.punctuation, yardstick=True)
    yield _line("best per interval", each.measures, each.punctuation, yardstick=True)
    if (rows := len(batches.event)) <= MOST_FOR_OPTIMUM:
        hold = _seconds(optimum(batches, late).mean_hold)
        yield AdviceLine("optimum", late / rows, hold, None, None, None, yardstick=True)


def honest_rows(recorded: Batches, request: AdviseRequest) -> Batches:
    """Return the rows whose event time is at most SKEW after their arrival, cut into batches in the same way.

    If hardly any row is left, the columns are not the clocks that they are said to be, and all rows are returned.
    """
    honest = recorded.event - recorded.arrival <= DEFAULT_SKEW
    if honest.all() or honest.sum() < FEWEST:
        return recorded
    source = None if recorded.source is None else recorded.source[honest]
    return _cut(request.batch, recorded.event[honest], recorded.arrival[honest], source)


def plain_late_share(recorded: Batches, delay: int) -> float:
    """Return the share of honest rows that `withWatermark` loses: its watermark follows the newest row of all."""
    honest = recorded.event - recorded.arrival <= DEFAULT_SKEW
    late = late_rows(recorded, newest(recorded) - delay)
    return float(late[honest].mean()) if honest.any() else 0.0


def doubt(event: Ints, arrival: Ints) -> str:
    """Return why the columns may not be event time and arrival time, or an empty text if they are plausible."""
    early = float(np.mean(event > arrival))
    if early > MOST:
        return f"{early:.0%} of the rows arrive before they happened: are --event and --arrival swapped, or no times?"
    if (old := float(np.mean(arrival - event > A_YEAR))) > MOST:
        return f"{old:.0%} of the rows arrive more than a year after they happened: are --event and --arrival times?"
    return ""


def read(request: AdviseRequest) -> tuple[Batches, list[str], list[str]]:
    """Read the trace; return it in batches, in order of arrival, with its senders, and notes on rows that were changed.

    A sender is known by its place in the list of senders.
    """
    if not request.path.exists():
        raise InputError(
            "SW-401", f"there is no file or folder {request.path}", hint="give the path of a recorded stream"
        )
    try:
        table = _table(request)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as cause:
        raise InputError(
            "SW-411", f"{request.path} cannot be read: {str(cause).splitlines()[0]}",
            expected="CSV (also .gz), Parquet or JSON lines", hint="check that the file is what its name says",
        )  from cause  # fmt: skip
    notes = []
    event, arrival = (_column(table, name) for name in (request.event, request.arrival))
    whole = pc.and_(pc.is_valid(event), pc.is_valid(arrival))
    if dropped := len(table) - int(pc.sum(whole).as_py() or 0):
        notes.append(f"{dropped:,} rows without an event or arrival time are left out")
        table = table.filter(whole)
        event, arrival = (_column(table, name) for name in (request.event, request.arrival))
    if len(table) < FEWEST:
        raise InputError(
            "SW-412", f"{request.path} has {'one row' if len(table) else 'no rows'} with both times",
            expected="a recorded stream of at least a few hundred rows", hint="record the stream for longer",
        )  # fmt: skip
    if not _sorted_as_recorded(request):
        notes.append("the rows were not in order of arrival and have been sorted")
    source, senders = (None, []) if request.source is None else _senders(_column(table, request.source))
    return _cut(request.batch, _ticks(event), _ticks(arrival), source), senders, notes


def _table(request: AdviseRequest) -> pa.Table:
    try:
        return Trace(str(request.path), request.event, request.arrival, request.unit).table()
    except InputError as error:
        if error.problem.code != "SW-445" or (request.event and request.arrival):
            raise
        raise InputError(
            "SW-445", "it is not said which columns of the trace have its times",
            expected="--event COLUMN (when it happened) and --arrival COLUMN (when it was received)",
            hint=error.problem.hint,
        ) from error  # fmt: skip


def _cut(batch: Length, event: Ints, arrival: Ints, source: Ints | None) -> Batches:
    cut = batches_by_time if batch.is_time else batches_by_rows
    return cut(event, arrival, batch.amount, source)


def _sorted_as_recorded(request: AdviseRequest) -> bool:
    recorded = Trace(str(request.path), request.arrival, None, request.unit).table()
    arrival = _ticks(_column(recorded, request.arrival).drop_null())
    return bool(np.all(np.diff(arrival) >= 0))


def _column(table: pa.Table, name: str) -> pa.ChunkedArray:
    return table.column(place_of(table, name))


def _ticks(column: pa.ChunkedArray) -> Ints:
    return np.asarray(column.cast(pa.int64()).to_numpy(), np.int64)


def _senders(column: pa.ChunkedArray) -> tuple[Ints, list[str]]:
    """Return each sender as a number, a missing sender as -1, and the names of senders by their numbers."""
    coded = pa.concat_arrays(column.chunks).dictionary_encode()
    return np.asarray(coded.indices.fill_null(-1).to_numpy(), np.int64), [str(each) for each in coded.dictionary]


def _counting(progress: Callable[[str, int, int], None], name: str, rows: int) -> Callable[[int], None]:
    return lambda more: progress(name, more, rows)


def _line(name: str, found: Measures, punctuation: Ints, *, yardstick: bool = False) -> AdviceLine:
    return AdviceLine(
        name,
        found.late_share,
        _seconds(found.mean_hold),
        _seconds(found.p99_hold),
        found.mean_held,
        found.worst_tenth,
        yardstick,
        punctuation,
    )


def _seconds(ticks: float) -> float:
    return ticks / MICROSECONDS["second"]


def _sentence(dratio: float, lines: list[AdviceLine], fixed: float, plain: float | None) -> str:
    """Return the advice as text. `plain` is the share that Spark's own watermark loses to suspect rows, or None."""
    own = [line for line in lines if not line.yardstick]
    default = next((line for line in own if line.name == "budget"), own[0])
    constant = next(line for line in lines if line.name.startswith("best constant (newest)"))
    kept = "keeps" if default.late_share <= dratio else "misses"
    if constant.mean_hold <= 0:
        said = f"This stream is in order: no watermark delay is needed. DRATIO {ratio_text(dratio)} {kept} the ratio."
        return said if plain is None else f"{said} {_breakage(fixed, plain)}"
    ratio = default.mean_hold / constant.mean_hold
    said = (
        f"Write DRATIO {ratio_text(dratio)}: it {kept} the ratio ({default.late_share:.2%} late) and holds rows "
        f"{default.mean_hold:.3g} s on average, {ratio:.2f} times the {constant.mean_hold:.3g} s of the best fixed "
        "delay in hindsight, "
    )
    if plain is None:
        return f'{said}withWatermark(..., "{fixed:.3f} seconds").'
    return f"{said}{fixed:.3f} s behind the newest row that is not suspect. {_breakage(fixed, plain)}"


def _breakage(fixed: float, plain: float) -> str:
    return (
        "Do not use a plain withWatermark here: Spark's watermark follows the newest row, also a suspect one. "
        f'With "{fixed:.3f} seconds" it would have lost {plain:.1%} of the other rows.'
    )
