"""budget on the wide set of streams: whether the ratio is kept, at the end and on the way, and how long rows are held.

    python -m bench budget                     100 streams drawn at random, at D = 5, 1 and 0.1%
    python -m bench budget --streams 40        fewer of them
    python -m bench budget --first 1000        others: from this seed on
    python -m bench budget --thin              each stream at one ratio only
    python -m bench budget --without PART      without a part of the design; `all`: without each part in turn

Kept: at most D N rows are late at the end (10 more where D N is below 50: that few are chance), and at every point
from D N = 100 on at most 1.2 D N. Hold: against the best
constant delay that keeps D in hindsight, the better of both forms.

Some late rows nothing could foresee: those that are late even for a rule that always waits as long as the longest delay
so far. A run that misses only because of such rows counts as not to be foreseen.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bench.disorder.wide import Case, cases
from bench.disorder.without import PARTS
from slackwater.disorder import controller
from slackwater.disorder.budget.settings import DEFAULT, Settings
from slackwater.disorder.replay.replaying import Batches, Bools, Ints, late_rows, replay
from slackwater.disorder.replay.yardsticks import best_of_constants

UNITS = {1: "s", 1_000: "ms", 1_000_000: "us"}
COUNTED_FROM = 100  # D N: from here on the ratio is looked at on the way
ON_THE_WAY = 1.2  # times D N that may be late on the way
FEW, CHANCE = 50, 10  # where D N is below FEW, CHANCE rows more may be late at the end
SKEW_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one run; times in seconds."""

    name: str
    named: bool
    batches: int
    dratio: float
    rows: int
    late: int
    worst: float
    kept: bool
    foreseen: bool
    hold: float
    best: float

    @property
    def ratio(self) -> float:
        return self.hold / max(self.best, 1e-9)


def best_hold(case: Case) -> float:
    """The mean hold of the best constant that keeps the ratio, in ticks."""
    honest = case.stream.event - case.stream.arrival <= SKEW_SECONDS * case.stream.ticks
    return best_of_constants(case.batches, int(case.dratio * len(case.stream)), honest).measures.mean_hold


def run(case: Case, best: float, settings: Settings = DEFAULT) -> Outcome:
    """Replay a case through a controller."""
    stream, batches, dratio = case.stream, case.batches, case.dratio
    punctuation, found = replay(batches, controller(dratio, unit=UNITS[stream.ticks], settings=settings))
    late = late_rows(batches, punctuation)
    kept = keeps(late, dratio)
    return Outcome(
        stream.name,
        batches.source is not None,
        len(batches.ends),
        dratio,
        len(stream),
        found.late,
        worst_excess(late, dratio),
        kept,
        kept or not keeps(late & ~late_rows(batches, careful(batches)), dratio),
        found.mean_hold / stream.ticks,
        best / stream.ticks,
    )


def worst_excess(late: Bools, dratio: float) -> float:
    """The largest multiple of D N that was late at any point from D N = 100 on; 0 if D N never comes to that."""
    allowed = dratio * np.arange(1, len(late) + 1)
    counted = allowed >= COUNTED_FROM
    return float((np.cumsum(late)[counted] / allowed[counted]).max(initial=0.0))


def keeps(late: Bools, dratio: float) -> bool:
    """Whether these late rows keep the ratio, at the end and on the way."""
    allowed = dratio * len(late)
    return bool(late.sum() <= allowed + (CHANCE if allowed < FEW else 0) and worst_excess(late, dratio) <= ON_THE_WAY)


def careful(batches: Batches) -> Ints:
    """Punctuations that lie the longest delay so far behind the arrival clock."""
    longest = np.maximum.accumulate(batches.arrival - batches.event)[batches.ends - 1]
    return np.maximum.accumulate(batches.clock - longest)


def summary(found: list[Outcome]) -> str:
    """One line: how many runs kept the ratio, of all and of those that could be foreseen, and the holds."""
    ratios = np.array([each.ratio for each in found])
    kept, foreseen = sum(each.kept for each in found), sum(each.foreseen for each in found)
    return (
        f"{kept:4} of {len(found)} kept, of {foreseen} foreseen {kept / max(1, foreseen):6.1%}; hold median "
        f"{np.median(ratios):.3f}, 90% {np.quantile(ratios, 0.9):.3f}, 99% {np.quantile(ratios, 0.99):.2f}, "
        f"worst {ratios.max():.2f}"
    )


def names_cost(found: list[Outcome]) -> str:
    """One line: what naming senders keeps and costs, over the streams that have some."""
    plain = {(each.name, each.dratio): each for each in found if not each.named}
    both = [(plain[each.name, each.dratio], each) for each in found if each.named and (each.name, each.dratio) in plain]
    if not both:
        return "no senders"
    ratios = np.array([named.hold / max(alone.hold, 1e-9) for alone, named in both])
    return (
        f"senders named: {sum(named.kept for _, named in both)} kept of {len(both)}, for "
        f"{sum(alone.kept for alone, _ in both)} without names; hold median {np.median(ratios):.3f}, "
        f"90% {np.quantile(ratios, 0.9):.3f}, worst {ratios.max():.2f} times that without names"
    )


def show(each: Outcome) -> str:
    mark = "" if each.kept else "  MISSED" if each.foreseen else "  missed, not to be foreseen"
    return (
        f"{each.name:14} {'named' if each.named else '':5} {each.rows:7,} rows {each.batches:5} batches "
        f"{each.dratio:6.1%} {each.late / each.rows:8.3%} worst {each.worst:5.2f} hold {each.hold:9.3f} s of "
        f"{each.best:9.3f} s {each.ratio:6.3f}{mark}"
    )


def outcomes(seeds: range, parts: list[str], *, thin: bool) -> Iterator[tuple[str, Outcome]]:
    """Every case as it is (by the name of no part) and without each of these parts."""
    for case in cases(seeds, thin=thin):
        best = best_hold(case)
        for part in ["", *parts]:
            yield part, run(case, best, PARTS[part] if part else DEFAULT)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=100, help="how many streams are drawn")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first one")
    parser.add_argument("--thin", action="store_true", help="each stream at one ratio only")
    parser.add_argument("--without", default="", metavar="PART", help=", ".join(["all", *PARTS]))
    asked, _ = parser.parse_known_args()
    parts = list(PARTS) if asked.without == "all" else [part for part in asked.without.split(",") if part]
    found: dict[str, list[Outcome]] = {part: [] for part in ["", *parts]}
    for part, outcome in outcomes(range(asked.first, asked.first + asked.streams), parts, thin=asked.thin):
        found[part].append(outcome)
        if not part:
            print(show(outcome), flush=True)
    print(f"{'as it is':24} {summary(found[''])}\n{'':24} {names_cost(found[''])}")
    for part in parts:
        print(f"without {part:16} {summary(found[part])}")


if __name__ == "__main__":
    main()
