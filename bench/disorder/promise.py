"""budget on the wide set of streams: whether the ratio is kept, at the end and on the way, and how long rows are held.

    python -m bench budget                     100 streams drawn at random, at D = 5, 1 and 0.1%
    python -m bench budget --streams 40        fewer of them
    python -m bench budget --first 1000        others: from this seed on
    python -m bench budget --thin              each stream at one ratio only
    python -m bench budget --without PART      without a part of the design; `all`: without each part in turn
    python -m bench budget --aims 0.5,0.25     told to keep half and a quarter of D, and the best of these per stream

Kept: at most D N rows are late at the end (10 more where D N is below 50: that few are chance), and at every point
from D N = 100 on at most 1.2 D N. Hold: against the best
constant delay that keeps D in hindsight, the better of both forms.

Some late rows nothing could foresee: those that are late even for a rule that always waits as long as the longest delay
so far. A run that misses only because of such rows counts as not to be foreseen.

The premium of a missed run: how many times as long the rows before its largest loss are held by a constant delay that
keeps its ratio as by their own best constant. Until the loss nothing told the stream from a calm one: a rule that keeps
the ratio pays as much on calm streams.
"""

from __future__ import annotations

import argparse
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from bench.disorder.wide import Case, cases
from bench.disorder.without import PARTS
from slackwater.disorder import controller
from slackwater.disorder.budget.settings import DEFAULT, Settings
from slackwater.disorder.replay.replaying import Batches, Bools, Ints, late_rows, measure, replay
from slackwater.disorder.replay.yardsticks import best_of_constants, newest, scores

UNITS = {1: "s", 1_000: "ms", 1_000_000: "us"}
COUNTED_FROM = 100  # D N: from here on the ratio is looked at on the way
ON_THE_WAY = 1.2  # times D N that may be late on the way
FEW, CHANCE = 50, 10  # where D N is below FEW, CHANCE rows more may be late at the end
SKEW_SECONDS = 300
AS_IT_IS = "as it is"


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
    premium: float

    @property
    def ratio(self) -> float:
        return self.hold / max(self.best, 1e-9)


def best_hold(case: Case) -> float:
    """The mean hold of the best constant that keeps the ratio, in ticks."""
    honest = case.stream.event - case.stream.arrival <= SKEW_SECONDS * case.stream.ticks
    return best_of_constants(case.batches, int(case.dratio * len(case.stream)), honest).measures.mean_hold


def run(case: Case, best: float, settings: Settings = DEFAULT, aim: float = 1.0) -> Outcome:
    """Replay a case through a controller that is told to keep `aim` times the ratio."""
    stream, batches, dratio = case.stream, case.batches, case.dratio
    punctuation, found = replay(batches, controller(aim * dratio, unit=UNITS[stream.ticks], settings=settings))
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
        1.0 if kept else premium(batches, late, dratio),
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


def premium(batches: Batches, late: Bools, dratio: float) -> float:
    """Return how many times as long the rows before the largest loss are held at a delay that keeps the ratio."""
    lost = int(np.argmax(np.bincount(batches.batch_of, late)))
    ends, latest = batches.ends[:lost], newest(batches)
    score = scores(batches, latest, latest)
    delays = np.unique(score[score >= 0])
    enough = bisect_left(delays, True, key=lambda delay: keeps(score > delay, dratio))
    if not lost or enough == len(delays):
        return 1.0
    rows = ends[-1]
    before = Batches(batches.event[:rows], batches.arrival[:rows], None, ends, batches.clock[:lost])
    calm = best_of_constants(before, int(dratio * rows)).measures.mean_hold
    return measure(before, latest[:lost] - delays[enough]).mean_hold / max(calm, 1e-9)


def by_kind(found: list[Outcome]) -> Iterator[str]:
    """Yield a line per kind of stream, as `summary` has it for all."""
    for kind in sorted({each.name.split()[1] for each in found}):
        yield f"{kind:24} {summary([each for each in found if each.name.split()[1] == kind])}"


def best_aims(runs: Iterable[tuple[Outcome, ...]]) -> list[Outcome]:
    """Return, for each stream, the run with the shortest hold of those that kept the ratio; of all if none did."""
    return [min(each, key=lambda run: (not run.kept, run.hold)) for each in runs]


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
    missed = f"  {'MISSED' if each.foreseen else 'missed, not to be foreseen'}, premium {each.premium:.2f}"
    mark = "" if each.kept else missed
    return (
        f"{each.name:14} {'named' if each.named else '':5} {each.rows:7,} rows {each.batches:5} batches "
        f"{each.dratio:6.1%} {each.late / each.rows:8.3%} worst {each.worst:5.2f} hold {each.hold:9.3f} s of "
        f"{each.best:9.3f} s {each.ratio:6.3f}{mark}"
    )


def outcomes(seeds: range, parts: list[str], aims: list[float], *, thin: bool) -> Iterator[tuple[str, Outcome]]:
    """Every case as it is, without each of these parts, and at each of these aims."""
    for case in cases(seeds, thin=thin):
        best = best_hold(case)
        yield AS_IT_IS, run(case, best)
        for part in parts:
            yield f"without {part}", run(case, best, PARTS[part])
        for aim in aims:
            yield f"aim {aim}", run(case, best, aim=aim)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=100, help="how many streams are drawn")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first one")
    parser.add_argument("--thin", action="store_true", help="each stream at one ratio only")
    parser.add_argument("--without", default="", metavar="PART", help=", ".join(["all", *PARTS]))
    parser.add_argument("--aims", default="", metavar="TIMES", help="multiples of D to tell the controller")
    asked, _ = parser.parse_known_args()
    parts = list(PARTS) if asked.without == "all" else [part for part in asked.without.split(",") if part]
    aims = [float(aim) for aim in asked.aims.split(",") if aim]
    found: dict[str, list[Outcome]] = {}
    seeds = range(asked.first, asked.first + asked.streams)
    for way, outcome in outcomes(seeds, parts, aims, thin=asked.thin):
        found.setdefault(way, []).append(outcome)
        if way == AS_IT_IS:
            print(show(outcome), flush=True)
    if aims:
        ways = [AS_IT_IS, *(f"aim {aim}" for aim in aims)]
        found["best aim per stream"] = best_aims(zip(*(found[way] for way in ways), strict=True))
    print("\n".join(by_kind(found[AS_IT_IS])), names_cost(found[AS_IT_IS]), sep="\n")
    for way, each in found.items():
        print(f"{way:24} {summary(each)}")


if __name__ == "__main__":
    main()
