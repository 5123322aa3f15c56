"""The page of CSQL's figures 3 to 5, in docs/experiments."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt

from bench.disorder.report import COLOURS, MARKS, page, save, table
from bench.windows import frequency

SHARES = frequency.SHARES
INTRO = """
# CSQL, figures 3 to 5: jumping windows

`AVG` over `RANGE W TUPLES, FREQUENCY F TUPLES`: the time of one kernel into which the frequency was pushed, as a
fraction of that of the window-id approach of Li et al., in which every row is given a copy for each window that it is
in, and the copies are grouped by window id. As in the paper the stream is in order; both read the same {rows:,} rows,
check their order and use the same exact average, and their answers are equal. Rows in no window are dropped by both as
soon as they are numbered. Processor time of one core, in turns, best of {turns}. The process keeps the memory that it
frees, because the page faults of new arrays would otherwise decide the ratio.
`python -m bench.windows.frequency --pages` writes this page.
"""
LATE = """
Every row comes up to {late} ms late: both hold rows back and put them in order, the kernel only those that some window
has.
"""
WHY = """
The larger the overlap, the more copies the window ids cost: the kernel keeps partial sums of the rows that come and go
together instead. Where windows do not overlap, there is one copy or none; the kernel then sums every window once, in
runs of rows whose place follows from their number, and is spared the copying and a second operator. Rows between two
windows are dropped before they are put in order. These runs shared a busy machine: read differences of less than 0.1
as none.
"""
MIXED = """
## Figure 5: mixed jumping windows

`RANGE` in seconds, `FREQUENCY` in tuples, which have no window ids: milliseconds of processor time per answer,
everything included, at 1,000 rows a second of stream time.
"""


def write(plain, grouped, late, costs):
    """Write the page, with a plot of each figure."""
    most = max(max(found.values()) for found in (plain, grouped, *late))
    page(
        "csql-figures-3-to-5",
        INTRO.format(rows=frequency.ROWS, turns=frequency.TURNS),
        drawn(plain, "csql-figure-3", "without GROUP BY"),
        ratios(plain),
        f"## Figure 4: GROUP BY, {frequency.KEYS} keys",
        drawn(grouped, "csql-figure-4", f"GROUP BY, {frequency.KEYS} keys"),
        ratios(grouped),
        "## The same over a disordered stream",
        LATE.format(late=frequency.LATEST),
        ratios(late[0]),
        f"With GROUP BY, {frequency.KEYS} keys:",
        ratios(late[1]),
        f"The largest fraction of all is {most:.2f}.",
        WHY,
        MIXED,
        drawn_costs(costs),
    )


def ratios(found):
    head = ("W/F", *(f"F = {every:,}" for every in frequency.FREQUENCIES))
    rows = [(f"{share:.0%}", *(f"{found[every, share]:.2f}" for every in frequency.FREQUENCIES)) for share in SHARES]
    return table(head, rows)


def drawn(found, name, title):
    figure, axes = plt.subplots(figsize=(5.4, 3.4))
    for number, share in enumerate(SHARES):
        heights = [found[every, share] for every in frequency.FREQUENCIES]
        style = {"color": COLOURS[number % len(COLOURS)], "marker": MARKS[number % len(MARKS)], "markersize": 4}
        dashes = "-" if number < len(COLOURS) else "--"
        axes.plot(frequency.FREQUENCIES, heights, dashes, label=f"W/F {share:.0%}", **style)
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set(xscale="log", ylim=(0, 1.55), xlabel="frequency in tuples", ylabel="pushed down / window id", title=title)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7, ncols=4, loc="upper center")
    return save(figure, name)


def drawn_costs(found):
    figure, axes = plt.subplots(figsize=(5.4, 3.0))
    for number, span in enumerate(frequency.SPANS):
        heights = [found[span, every] for every in frequency.FREQUENCIES]
        axes.plot(frequency.FREQUENCIES, heights, color=COLOURS[number], marker=MARKS[number], label=f"RANGE {span} s")
    axes.set(xscale="log", yscale="log", xlabel="frequency in tuples", ylabel="ms per answer", title="mixed windows")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)
    return save(figure, "csql-figure-5")
