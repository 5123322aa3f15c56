"""WIN figures 7 and 8: accuracy and stability of the adaptive measure against the largest delay seen, D = 1%.

20 data sets of 16 to 20 sensors that report every second, with normal delays (mean 1 to 4 s, deviation 0.2 to 1 s),
one estimate per row. The paper states neither the length of its sets nor where they start. The largest delay seen is
passed about ln N times in N rows whatever the delays are, so its 1.10% of drops points to sets of some 600 rows: that
length is inferred from the result, so our figure for max-delay confirms the arithmetic and not the paper. Sets five
times longer, and sets from the first row of a stream, are shown beside it; the claims are judged on 600 rows in
mid-stream. `budget` is called once a second, not per row: that adds up to a second to its wait.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from bench.disorder.report import (
    Claim,
    claims,
    elsewhere_plot,
    elsewhere_table,
    kept,
    lines_plot,
    page,
    save,
    seconds,
    share,
    table,
)
from bench.disorder.runs import OURS, by_row, elsewhere, first_rows, mid_stream
from slackwater.testing import disordered as streams

DRATIO = 0.01
SETS = 20
LENGTHS = (600, 3_000)
STARTS = {"mid-stream": mid_stream, "first row": first_rows}
NAMES = ("max-delay", "adaptive", *OURS)
EXTRA = (0, 5, 10, 20, 40, 80)
EARLY = 10


def data_set(number, rows, start):
    rng = np.random.default_rng(40 + number)
    mu, sigma, rate = rng.uniform(1.0, 4.0), rng.uniform(0.2, 1.0), float(rng.integers(16, 21))
    stream = streams.normal(rows + 400, mu=mu, sigma=sigma, rate=rate, seed=60 + number)
    return STARTS[start](stream, rows)


def with_early_stragglers(extra):
    """2,000 rows at 20 a second; 10 of the first 100 take so many seconds more, up to `extra`."""
    rng = np.random.default_rng(7)
    event = streams.poisson(rng, 2_000, 20.0)
    delay = np.maximum(rng.normal(2.0, 0.5, 2_000), 0.0)
    delay[rng.choice(100, EARLY, replace=False)] += extra * np.linspace(0.1, 1.0, EARLY)
    return streams.record(f"{extra} s", event, delay, cut=False)


def main() -> None:
    hard = elsewhere({name: {"name": name} for name in NAMES}, (0.05, DRATIO))
    seven = {
        (rows, number, name, start): by_row(data_set(number, rows, start), DRATIO, name)
        for start in STARTS
        for rows in LENGTHS
        for number in range(SETS)
        for name in NAMES
    }
    eight = {(extra, name): by_row(with_early_stragglers(extra), DRATIO, name) for extra in EXTRA for name in NAMES}
    page(
        "win-figures-7-and-8",
        "# WIN, figures 7 and 8: the adaptive measure against the largest delay seen",
        __doc__.split("\n", 2)[2] + "Written by `python -m bench win`.",
        claims(verdicts(seven, eight, hard)),
        "## Figure 7: twenty data sets, D = 1%",
        table(("mean of 20 sets", "buffer", "latency", "late", "sets above 1%"), summaries(seven)),
        plot_seven(seven),
        "## Figure 8: ten of the first hundred rows are extremely late",
        table(
            ("up to so much later", *(f"{name}: late, buffer, wait" for name in NAMES)),
            ((f"{extra} s", *(triple(eight[extra, name]) for name in NAMES)) for extra in EXTRA),
        ),
        plot_eight(eight),
        "## Where the assumptions do not hold",
        "The same in batches of 64 rows on streams whose delays are not normal. `best constant` is the delay that "
        "hindsight would choose.",
        *(elsewhere_table(hard, (*NAMES, "best constant"), dratio) for dratio in (0.05, DRATIO)),
        elsewhere_plot(hard, NAMES, "win-elsewhere", "WIN's measures on streams that are not normal (D = 5%, 1%)"),
    )


def triple(found):
    return f"{share(found.late)}, {found.buffer:.0f}, {seconds(found.hold)}"


def of_sets(seven, rows, name, start="mid-stream"):
    return [seven[rows, number, name, start] for number in range(SETS)]


def mean(runs, what):
    return float(np.mean([getattr(each, what) for each in runs]))


def broken(runs):
    return sum(each.late > DRATIO for each in runs)


def summaries(seven):
    for start in STARTS:
        for rows in LENGTHS:
            for name in NAMES:
                runs = of_sets(seven, rows, name, start)
                buffer, hold, late = (mean(runs, what) for what in ("buffer", "hold", "late"))
                above = f"{broken(runs)} of {SETS}"
                yield (f"{name}, {rows:,} rows, {start}", f"{buffer:.0f}", seconds(hold), share(late), above)


def verdicts(seven, eight, hard):
    largest, adaptive = (of_sets(seven, LENGTHS[0], name) for name in NAMES[:2])
    longer = of_sets(seven, LENGTHS[1], "max-delay")
    grown = {name: eight[EXTRA[-1], name].hold / eight[0, name].hold for name in NAMES}
    fit, of = kept(hard, "adaptive")
    return [
        Claim(
            "7: adaptive stays within 1% (the paper's drops: 0.51%)",
            share(mean(adaptive, "late")),
            mean(adaptive, "late") <= DRATIO,
        ),
        Claim(
            "7: max-delay exceeds 1% (the paper's drops: 1.10%)",
            share(mean(largest, "late")),
            mean(largest, "late") > DRATIO,
        ),
        Claim(
            "7: max-delay violates the ratio in 13 of 20 sets",
            f"{broken(largest)} of {SETS}; {broken(longer)} of {SETS} when they are five times longer; "
            f"adaptive {broken(adaptive)}",
            broken(largest) > SETS // 2,
        ),
        Claim(
            "7: its buffer and latency are smaller, but not significantly",
            f"wait {mean(largest, 'hold'):.2f} s against {mean(adaptive, 'hold'):.2f} s",
            mean(adaptive, "hold") / 2 < mean(largest, "hold") < mean(adaptive, "hold"),
        ),
        Claim(
            "8: early stragglers drive max-delay's buffer and wait",
            f"wait {grown['max-delay']:.1f} times as long at {EXTRA[-1]} s",
            grown["max-delay"] > 2,
        ),
        Claim("8: adaptive is not affected", f"wait {grown['adaptive']:.2f} times", grown["adaptive"] < 1.25),
        Claim(
            "beyond the paper: the ratio is kept where delays are not normal",
            f"adaptive keeps the ratio in {fit} of {of} cases below",
            fit == of,
        ),
    ]


def plot_seven(seven):
    figure, axes = plt.subplots(1, 2, figsize=(8.0, 2.9), sharey=True)
    for each, rows in zip(axes, LENGTHS, strict=True):
        late = {name: sorted(100 * run.late for run in of_sets(seven, rows, name)) for name in NAMES}
        lines_plot(
            each,
            range(1, SETS + 1),
            late,
            xlabel=f"data sets of {rows:,} rows, sorted",
            ylabel="late, %",
            xticks=(1, 5, 10, 15, 20),
        )
        each.axhline(100 * DRATIO, color="black", linewidth=0.8)
    return save(figure, "win-figure-7")


def plot_eight(eight):
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.0, 2.9))
    for axes, what, text in ((left, "buffer", "rows held"), (right, "hold", "average wait, s")):
        series = {name: [getattr(eight[extra, name], what) for extra in EXTRA] for name in NAMES}
        lines_plot(axes, EXTRA, series, xlabel="early rows late by up to, s", ylabel=text, ylim=(0, None))
    return save(figure, "win-figure-8")


if __name__ == "__main__":
    main()
