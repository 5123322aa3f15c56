"""The pictures of docs/design/budget.md: one run of `budget`, and the dips by which it chooses its delay.

python -m bench budget-pictures       writes docs/images/budget-run.png and docs/images/budget-dips.png
"""

from __future__ import annotations

import numpy as np

from bench.disorder.report import COLOURS, plt
from bench.disorder.runs import ROOT
from slackwater.disorder.budget.estimator import Budget
from slackwater.disorder.budget.histogram import LARGEST
from slackwater.disorder.replay.replaying import batches_by_rows, late_rows
from slackwater.testing.disordered import DisorderedStream, poisson, record

IMAGES = ROOT / "docs" / "images"
DRATIO, ROWS, BATCH = 0.01, 60_000, 250
TIMES = (0.3, 1.0)  # of the run: when the dips are drawn


def stream() -> DisorderedStream:
    """Log-normal delays of half a second; every minute one of five senders is cut off for a few seconds."""
    rng = np.random.default_rng(26)
    event = poisson(rng, ROWS, 100)
    delay = rng.lognormal(-0.7, 0.6, ROWS)
    into, sender = event % 60, rng.integers(0, 5, ROWS)
    cut_off = (into < 3) & (sender == 0) & (event > 60)
    return record("cut off", event, np.where(cut_off, np.maximum(delay, 3 - into), delay))


def main() -> None:
    made = stream()
    batches = batches_by_rows(made.event, made.arrival, BATCH)
    budget, lag, dips = Budget(DRATIO, unit="ms"), [], {}
    punctuation = np.empty(len(batches.ends), np.int64)
    at = {int(share * len(batches.ends)) - 1: share for share in TIMES}
    for number, rows in enumerate(batches):
        punctuation[number] = budget.observe(*rows)
        lag.append((int(batches.clock[number]) - int(punctuation[number])) / 1_000)
        if number in at:
            dips[at[number]] = budget._memory.dip, budget._account.spare
    _draw_run(batches, late_rows(batches, punctuation), np.array(lag))
    _draw_dips(dips, batches)


def _draw_run(batches, late, lag) -> None:
    time = (batches.clock - batches.clock[0]) / 1_000
    allowed = DRATIO * batches.ends
    figure, (above, below) = plt.subplots(2, 1, figsize=(8, 4.6), sharex=True)
    above.plot(time, allowed, color=COLOURS[4], label="D N: may be late")
    above.plot(time, np.cumsum(late)[batches.ends - 1], color=COLOURS[1], label="late")
    above.set_ylabel("rows")
    above.legend(frameon=False)
    started = lag < 100
    delay = (batches.arrival - batches.event) / 1_000
    below.plot((batches.arrival[::10] - batches.clock[0]) / 1_000, delay[::10], ".", ms=1, color="#bbbbbb")
    below.plot(time[started], lag[started], color=COLOURS[0], label="the punctuation lags by")
    below.set(ylim=(0, 6), xlabel="seconds since the start", ylabel="seconds")
    below.legend(frameon=False, loc="upper right")
    figure.tight_layout()
    figure.savefig(IMAGES / "budget-run.png", dpi=110)
    plt.close(figure)


def _draw_dips(dips, batches) -> None:
    figure, axis = plt.subplots(figsize=(8, 3.2))
    for (share, (dip, spare)), colour in zip(dips.items(), COLOURS, strict=False):
        rows = batches.ends[int(share * len(batches.ends)) - 1]
        used = dip > 0
        axis.plot(LARGEST[used] / 1_000, dip[used], color=colour, label=f"dips after {rows:,} rows")
        axis.axhline(max(spare, 0.5), color=colour, ls="--", lw=0.9, label=f"to spare: {spare:.0f} rows")
    axis.set(xscale="log", yscale="log", xlim=(0.2, 6), xlabel="delay in seconds", ylabel="rows")
    axis.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(IMAGES / "budget-dips.png", dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()
