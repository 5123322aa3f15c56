"""Every estimator by name, alone and in a controller: seconds of one core for 1,000,000 rows.

Normal delays at 10,000 rows a second, in batches of 10,000 and of 1,000 rows. `state` is the size of the
controller's state after the last row, with the rows that it holds.
"""

from __future__ import annotations

import time

from slackwater.disorder import ESTIMATORS, controller
from slackwater.testing import disordered as streams

ROWS = 1_000_000


def seconds(observer, stream, batch):
    started = time.process_time()
    for start in range(0, len(stream), batch):
        observer.observe(stream.event[start : start + batch], stream.arrival[start : start + batch])
    return (time.process_time() - started) * ROWS / len(stream)


def main() -> None:
    stream = streams.normal(ROWS, mu=3.0, sigma=1.0, seed=1)
    head = ("estimator", "10,000 a batch", "in a controller", "1,000 a batch", "in a controller", "state")
    print("".join(f"{each:>17}" for each in head))
    for name, make in ESTIMATORS.items():
        cells = [name]
        for batch in (10_000, 1_000):
            control = controller(0.01, name, unit="ms")
            both = make(dratio=0.01, unit="ms"), control
            cells += [f"{seconds(each, stream, batch):.2f} s" for each in both]
        print("".join(f"{each:>17}" for each in (*cells, f"{len(control.state()):,} B")), flush=True)


if __name__ == "__main__":
    main()
