"""APAS figures 8 and 9: how much compression gains, and what it costs, as the load grows.

Figure 7's query: a window of 60 seconds, a filter, the sum of 100 groups, a map. From 5,000 rows a minute, as in the
paper, on to 100,000 rows a second; one batch a second, of which 60 are counted after the window is full (15 from 5,000
rows a second on). Times are of one core, the median of these batches; the share is the median of the batches' shares.
"""

from __future__ import annotations

import sys
import time
from statistics import median

import matplotlib.pyplot as plt

from bench.changelog.runs import SECOND, batches, grouped_sum, kernel, rows, stream, twice, where_x, window
from bench.disorder.report import COLOURS, page, save, table
from slackwater.engine.changelog.log import compressed

GROUPS = 100
A_MINUTE = (5_000, 10_000, 20_000, 40_000, 60_000)
A_SECOND = (5_000, 20_000, 100_000)
RATES = [rate // 60 for rate in A_MINUTE] + list(A_SECOND)
QUERY = twice(grouped_sum(where_x(window(stream("S"), 60))))


def measured(rate):
    """Changes before and after; median milliseconds of a core a batch without, with, in compression; its share."""
    gap = SECOND // rate
    counted = 60 if rate < A_SECOND[0] else 15
    given = {"S": rows(rate * (60 + counted), GROUPS, gap)}
    plain, net = kernel(QUERY), kernel(QUERY, net=True)
    one, two = plain.init(), net.init()
    before = after = 0
    spent = {"without": [], "with": [], "compression": []}
    for number, (batch, mark) in enumerate(batches(given, rate, gap)):
        started = time.process_time()
        first = plain.step(one, batch, mark)
        middle = time.process_time()
        second = net.step(two, batch, mark)
        ended = time.process_time()
        compressed(first.log, mark)
        last = time.process_time()
        one, two = first.state, second.state
        if number < 60:
            continue
        before += first.changelog.num_rows
        after += second.changelog.num_rows
        spent["without"].append(middle - started)
        spent["with"].append(ended - middle)
        spent["compression"].append(last - ended)
    share = median(part / whole for part, whole in zip(spent["compression"], spent["with"], strict=True))
    times = {name: 1_000 * median(each) for name, each in spent.items()}
    return before / counted, after / counted, times | {"share": share}


def plot(found):
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.4))
    rates = list(found)
    axes[0].plot(rates, [after / before for before, after, _ in found.values()], color=COLOURS[0], marker="o")
    axes[0].set(xscale="log", ylim=(0, 1.05), xlabel="rows a second", title="changes left by compression (figure 8)")
    for number, (name, label) in enumerate((("without", "100N"), ("with", "100C"))):
        spent = [each[name] for *_, each in found.values()]
        axes[1].plot(rates, spent, color=COLOURS[number], marker="os"[number], label=label)
    axes[1].set(xscale="log", yscale="log", xlabel="rows a second", title="milliseconds a batch (figure 9)")
    axes[1].legend(fontsize=8)
    for each in axes:
        each.grid(alpha=0.3)
    return save(figure, "changelog-compression")


def main():
    found = {rate: measured(rate) for rate in RATES}
    lines = [
        (
            f"{rate:,}",
            f"{before:,.0f}",
            f"{after:,.0f}",
            f"{after / before:.3f}",
            f"{spent['without']:.2f}",
            f"{spent['with']:.2f}",
            f"{spent['compression']:.2f}",
            f"{spent['share']:.1%}",
        )
        for rate, (before, after, spent) in found.items()
    ]
    head = ("rows a second", "changes", "net", "ratio", "ms without", "ms with", "ms compression", "share of the batch")
    worst = max(spent["share"] for *_, spent in found.values())
    more = {rate: spent["with"] / spent["without"] - 1 for rate, (*_, spent) in found.items()}
    slower = [f"{rate:,} rows a second ({each:+.1%})" for rate, each in more.items() if each > 0.02]
    page(
        "changelog-compression",
        "# Compression to the net change",
        __doc__.split("\n\n", 1)[1] + "\n`python -m bench changelog-compression` writes this page.",
        table(head, lines),
        plot(found),
        "## What it shows",
        "- In the paper compression gains little and costs 20 to 50% of latency: a packet seldom has both tuples of a "
        "pair, and pairs are looked for one by one. Here a packet is a batch, and all of it is looked at in one pass: "
        "what is left per batch is at most one negative and one positive of each group.",
        f"- Compression takes at most {worst:.1%} of a batch's time. What it leaves out need not be written as rows: "
        + (
            f"rows of a net change are written by key, which is dearer for few; a batch as a whole takes longer at "
            f"{', '.join(slower)} only."
            if slower
            else "with it, no batch takes more than 2% longer as a whole."
        ),
    )


if __name__ == "__main__":
    sys.exit(main())
