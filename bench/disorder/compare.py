"""budget beside every other estimator: late share and mean hold as a multiple of the best constant's, D = 1%.

The streams that the promise is made for, in batches of 1,000 rows. `!` marks more late rows than allowed. The same for
budget alone, at more ratios and batches and on further streams: `python -m bench.disorder.budget [--unseen]`.
"""

from __future__ import annotations

import numpy as np

from bench.disorder.budget import UNITS, listed
from slackwater.disorder import ESTIMATORS, controller
from slackwater.disorder.replay.replaying import batches_by_rows, replay
from slackwater.disorder.replay.yardsticks import best_of_constants
from slackwater.testing.disordered import DisorderedStream

DRATIO = 0.01
BATCH = 1_000


def compare(stream: DisorderedStream) -> dict[str, tuple[float, float, bool]]:
    """By estimator: late share, hold over the best constant's, whether the ratio was kept."""
    batches = batches_by_rows(stream.event, stream.arrival, BATCH, stream.source)
    honest = stream.event - stream.arrival <= 300 * stream.ticks
    best = best_of_constants(batches, int(DRATIO * len(stream)), honest).measures.mean_hold
    found = {}
    for name in ESTIMATORS:
        measures = replay(batches, controller(DRATIO, name, unit=UNITS[stream.ticks]))[1]
        found[name] = measures.late_share, measures.mean_hold / best, measures.late <= DRATIO * len(stream)
    return found


def main() -> None:
    print(f"{'stream':34}" + "".join(f"{name:>16}" for name in ESTIMATORS))
    runs = []
    for stream in listed():
        runs.append(compare(stream))
        cells = (f"{late:.2%}/{hold:.2f}{' ' if kept else '!'}" for late, hold, kept in runs[-1].values())
        print(f"{stream.name[:33]:34}" + "".join(f"{cell:>16}" for cell in cells), flush=True)
    for title, of in (
        ("keep D", lambda name: f"{sum(run[name][2] for run in runs)} of {len(runs)} "),
        ("median hold / best constant", lambda name: f"{np.median([run[name][1] for run in runs]):.2f} "),
    ):
        print(f"{title:34}" + "".join(f"{of(name):>16}" for name in ESTIMATORS))


if __name__ == "__main__":
    main()
