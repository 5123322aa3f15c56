"""budget against the best constant delay in hindsight: does it keep the ratio, and how long does it hold?

    python -m bench.disorder.budget            the streams that the promise is made for
    python -m bench.disorder.budget --unseen   streams of other kinds, which it was not tuned on
    python -m bench.disorder.budget --seed 100 the same, the synthetic ones drawn anew
    python -m bench.disorder.budget --drawn 40 so many streams of kinds drawn at random

Late rows are compared with D N (D N + 30 where that is below 50); hold with the best constant that keeps D, and
with the best at the late share that budget realised. Where more rows were late than allowed, those are counted that
took longer than every row that had arrived when the punctuation passed them: nothing gave a sign of them.

The papers' streams are as long and as fast as in ADC-J, section 5: 1,000,000 rows, 10,000 a second.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product

import numpy as np

from bench.disorder.drawn import drawn
from bench.disorder.runs import trace_files
from bench.disorder.unseen import UNSEEN
from slackwater.disorder import controller
from slackwater.disorder.replay.replaying import Batches, Ints, batches_by_rows, late_rows, replay
from slackwater.disorder.replay.trace import Trace
from slackwater.disorder.replay.yardsticks import best_of_constants
from slackwater.testing import disordered as streams
from slackwater.testing.disordered import DisorderedStream

RATIOS = (0.05, 0.01, 0.001)
BATCHES = (64, 1_000)
UNITS = {1: "s", 1_000: "ms", 1_000_000: "us"}


@dataclass(frozen=True, slots=True)
class Result:
    stream: str
    batch: int
    dratio: float
    rows: int
    late: int
    hold: float
    constant: float
    same: float
    unforeseen: int

    @property
    def limit(self) -> float:
        allowed = self.dratio * self.rows
        return allowed if allowed >= 50 else allowed + 30

    @property
    def kept(self) -> bool:
        return self.late <= self.limit


def recorded() -> list[DisorderedStream]:
    """The traces beside the repository, with and without their senders."""
    found = []
    for path in trace_files():
        table = Trace(str(path), "event_ms", "arrival_ms", "ms").table()
        event, arrival = (table[name].cast("int64").to_numpy() // 1_000 for name in ("event_ms", "arrival_ms"))
        sender = np.unique(table["source"].to_numpy(zero_copy_only=False), return_inverse=True)[1]
        name = path.name.removesuffix(".csv.gz")
        found += [
            DisorderedStream(name, event, arrival),
            DisorderedStream(f"{name}, senders named", event, arrival, sender),
        ]
    return found


def papers(seed: int) -> list[DisorderedStream]:
    """Constant and changing."""
    constant = [streams.normal(1_000_000, mu=3, sigma=each, seed=seed + each) for each in (1, 2, 3, 4, 5)]
    return constant + [streams.changing(1_000_000, every=each, seed=seed + 10 + each) for each in (1, 3, 5)]


def listed(seed: int = 0) -> list[DisorderedStream]:
    return [
        *([] if seed else recorded()),
        *papers(seed),
        streams.pareto(100_000, seed=seed + 20),
        streams.lognormal_drift(100_000, rate=200, seed=seed + 21),
        streams.two_modes(100_000, seed=seed + 22),
        streams.bursts(100_000, seed=seed + 23),
        streams.outage(100_000, seed=seed + 24),
        streams.far_future(streams.pareto(100_000, seed=seed + 25), seed=seed + 1),
    ]


def measure(stream: DisorderedStream, batch: int, dratio: float) -> Result:
    batches = batches_by_rows(stream.event, stream.arrival, batch, stream.source)
    punctuation, found = replay(batches, controller(dratio, "budget", unit=UNITS[stream.ticks]))
    honest = stream.event - stream.arrival <= 300 * stream.ticks
    constant, same = (
        best_of_constants(batches, late, honest).measures.mean_hold / stream.ticks
        for late in (int(dratio * len(stream)), found.late)
    )
    return Result(
        stream.name,
        batch,
        dratio,
        len(stream),
        found.late,
        found.mean_hold / stream.ticks,
        constant,
        same,
        unforeseen(batches, punctuation),
    )


def unforeseen(batches: Batches, punctuation: Ints) -> int:
    """Late rows with a longer delay than all that had arrived when the punctuation passed them."""
    delay = batches.arrival - batches.event
    longest = np.maximum.accumulate(delay)[batches.ends - 1]
    late = late_rows(batches, punctuation)
    passed = np.searchsorted(punctuation, batches.event[late], side="right")
    return int(np.count_nonzero(delay[late] > longest[passed]))


def show(result: Result) -> None:
    mark = "" if result.kept else f"  OVER: {result.late:,} late, {result.unforeseen:,} of them unforeseen"
    print(
        f"{result.stream:34} {result.batch:5} {result.dratio:6.1%} {result.late / result.rows:8.3%} "
        f"{result.hold:10.3f} s {result.constant:10.3f} s {result.hold / result.constant:6.3f} "
        f"{result.hold / max(result.same, 1e-9):6.3f}{mark}",
        flush=True,
    )


def phones() -> None:
    """Held, in seconds, and when windows close, on the phones at 1%: the default, the papers' estimator, hindsight.

    No rule holds rows for less than they wait for the end of their batch.
    """
    for stream in recorded():
        if "phones" in stream.name and stream.source is None:
            for batch in (1, 8, *BATCHES):
                batches = batches_by_rows(stream.event, stream.arrival, batch)
                runs = [replay(batches, controller(0.01, name, unit="ms")) for name in ("budget", "adaptive")]
                constant = best_of_constants(batches, int(0.01 * len(stream)))
                wait = float((batches.clock[batches.batch_of] - batches.arrival).mean())
                for name, (punctuation, found) in zip(
                    ("budget", "adaptive", "best constant"),
                    (*runs, (constant.punctuation, constant.measures)),
                    strict=True,
                ):
                    print(
                        f"{stream.name} in batches of {batch}: {name} holds {found.mean_hold / 1_000:.3f} s, "
                        f"{wait / 1_000:.3f} s of it for the end of the batch; windows of a second close "
                        f"{closes(batches, punctuation, 1_000) / 1_000:.3f} s after their end"
                    )


def closes(batches: Batches, punctuation: Ints, size: int) -> float:
    """How long after their end tumbling windows of this size are passed, on average."""
    ends = np.arange(batches.event.min() // size + 1, batches.event.max() // size) * size
    passed = np.searchsorted(punctuation, ends)
    known = passed < len(punctuation)
    return float((batches.clock[passed[known]] - ends[known]).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--unseen", action="store_true", help="streams of kinds that were not used for tuning")
    parser.add_argument("--seed", type=int, default=0, help="other draws of the synthetic streams, without the traces")
    parser.add_argument("--drawn", type=int, default=0, help="so many streams of kinds drawn at random")
    asked, _ = parser.parse_known_args()
    first = 900 + asked.seed
    if asked.drawn:
        chosen = [drawn(asked.seed + number) for number in range(asked.drawn)]
    else:
        chosen = [kind(first + number) for number, kind in enumerate(UNSEEN)] if asked.unseen else listed(asked.seed)
    print(f"{'stream':34} batch      D     late  budget hold   best const  ratio   same")
    results = []
    with ProcessPoolExecutor() as pool:
        for result in pool.map(measure, *zip(*product(chosen, BATCHES, RATIOS), strict=True)):
            show(result)
            results.append(result)
    ratios = np.array([each.hold / each.constant for each in results])
    same = np.array([each.hold / max(each.same, 1e-9) for each in results])
    print(
        f"{len(results)} runs, {sum(each.kept for each in results)} keep D, "
        f"{sum(each.late - each.unforeseen <= each.limit for each in results)} but for what was unforeseen; "
        f"ratio median {np.median(ratios):.3f}, mean {ratios.mean():.3f}, worst {ratios.max():.2f}; "
        f"at the same late share median {np.median(same):.4f}, mean {same.mean():.3f}, worst {same.max():.2f}"
    )
    if not asked.unseen and not asked.seed and not asked.drawn:
        phones()


if __name__ == "__main__":
    main()
