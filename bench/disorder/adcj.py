"""ADC-J figures 5 to 7: buffer and drops of two-max and of the periodic method, constant and changing streams.

1,000,000 rows at 10,000 rows a second. A constant stream has normal delays of mean 6 s and a deviation of 1 to 5 s; a
changing one draws a mean from 0 to 6 s and a deviation from 0 to 5 s anew every 1, 3 or 5 s. Delays are not
negative, and the recording starts in mid-stream: at the very start of a stream only quick rows have arrived. Replayed
in batches of 1,000 rows, a tenth of a second. W of two-max is a number of rows.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import matplotlib.pyplot as plt

from bench.disorder.report import (
    Claim,
    claims,
    elsewhere_plot,
    elsewhere_table,
    kept,
    lines_plot,
    page,
    save,
    share,
    table,
)
from bench.disorder.runs import OURS, elsewhere, first_rows, mid_stream, run
from slackwater.testing import disordered as streams

ROWS = 1_000_000
GENERATED = 1_350_000
BATCH = 1_000
SIGMAS = (1, 2, 3, 4, 5)
PERIODS = (1, 3, 5)
RATIOS = (0.01, 0.005, 0.001)
WINDOWS = (10, 100, 1_000, 10_000, 100_000)
PERIODIC = {"name": "periodic", "handover": 0.0}
"""Equation 11 at every ratio: the hand-over at 0.1% is what figures 6 and 7 argue for."""
ELSEWHERE = {"periodic": PERIODIC, "two-max": {"name": "two-max"}} | {name: {"name": name} for name in OURS}


SAMPLES = {
    "0.2 s": {"p_e": 100, "p_s": 10, "m": 10},
    "2 s (our default)": {},
    "10 s": {"p_s": 50, "m": 100},
}
"""How much of the stream the estimator's sample spans: the paper gives no values for P_e, P_s and M."""


@cache
def constant(sigma, middle=True):
    return started(streams.normal(GENERATED, mu=6.0, sigma=float(sigma), seed=20 + sigma), middle)


@cache
def changing(every, middle=True):
    return started(streams.changing(GENERATED, every=float(every), seed=30 + every), middle)


def started(stream, middle):
    return mid_stream(stream, ROWS) if middle else first_rows(stream, ROWS)


def main() -> None:
    hard = elsewhere(ELSEWHERE, (0.01, 0.001))
    five = {
        (every, w): run(changing(every), 0.01, "two-max", rows=BATCH, window=w) for every in PERIODS for w in WINDOWS
    }
    made = {("constant", sigma): constant(sigma) for sigma in SIGMAS}
    made |= {("changing", every): changing(every) for every in PERIODS}
    six = {(key, d): run(stream, d, rows=BATCH, **PERIODIC) for key, stream in made.items() for d in RATIOS}
    seven = {key: run(stream, 0.001, "two-max", rows=BATCH) for key, stream in made.items()}
    ours = {
        name: {(key, d): run(stream, d, name, rows=BATCH) for key, stream in made.items() for d in RATIOS}
        for name in OURS
    }
    page(
        "adcj-figures-5-to-7",
        "# ADC-J, figures 5 to 7: the periodic method against two-max",
        __doc__.split("\n", 2)[2] + "Written by `python -m bench adcj`.",
        claims(verdicts(five, six, seven, hard)),
        "## Figure 5: two-max on changing streams as W varies",
        table(
            ("W", *(f"every {every} s: late, buffer" for every in PERIODS)),
            ((f"{w:,}", *(both(five[every, w]) for every in PERIODS)) for w in WINDOWS),
        ),
        plot_five(five),
        "## Figure 6: late share of the periodic method",
        table(
            ("stream", *(f"{name}, D = {share(d)}" for d in RATIOS for name in ("periodic", *OURS))),
            ((label(key), *(late(runs[key, d], d) for d in RATIOS for runs in (six, *ours.values()))) for key in made),
        ),
        plot_six(six),
        "## Figure 7: buffer sizes at D = 0.1%",
        table(
            ("stream", *(f"{name}: late, buffer" for name in ("two-max", "periodic", *OURS))),
            (
                (label(key), both(seven[key]), *(both(runs[key, 0.001]) for runs in (six, *ours.values())))
                for key in made
            ),
        ),
        plot_seven(six, seven, ours),
        "## What hangs on choices that the paper leaves open",
        "Two of ours were made after a first run, and both bring the results nearer to the paper: where the "
        "recording starts, and how long the sample is. Here are the alternatives, late share of the periodic method in "
        "units of D; two-max beside it. Claims 6a, 6b and 7b are only as good as these choices.",
        table(("stream, start, sample", *(f"D = {share(d)}" for d in RATIOS), "buffer at 0.1%"), choices()),
        "## Where the assumptions do not hold",
        "The same in batches of 64 rows on streams whose delays are not normal. `best constant` is the delay that "
        "hindsight would choose.",
        *(elsewhere_table(hard, (*ELSEWHERE, "best constant"), d) for d in (0.01, 0.001)),
        elsewhere_plot(
            hard, tuple(ELSEWHERE), "adcj-elsewhere", "ADC-J's methods on streams that are not normal (D = 1%, 0.1%)"
        ),
    )


def choices():
    """The widest constant stream and a changing one, from the middle and from the first row, by length of sample."""
    for name, make in (("constant, sigma 5 s", constant), ("changing every 3 s", changing)):
        for start, middle in (("mid-stream", True), ("first row", False)):
            stream = make(5 if make is constant else 3, middle)
            for span, how in SAMPLES.items():
                runs = [run(stream, d, rows=BATCH, **PERIODIC, **how) for d in RATIOS]
                yield choice(f"{name}, {start}, {span}", runs)
            yield choice(f"{name}, {start}, two-max", [run(stream, d, "two-max", rows=BATCH) for d in RATIOS])


def choice(text, runs):
    shares = (found.late / d for found, d in zip(runs, RATIOS, strict=True))
    return (text, *(f"**{each:.2f} D**" if each > 1 else f"{each:.2f} D" for each in shares), f"{runs[-1].buffer:,.0f}")


def label(key):
    kind, number = key
    return f"constant, sigma {number} s" if kind == "constant" else f"changing every {number} s"


def both(found):
    return f"{share(found.late)}, {found.buffer:,.0f}"


def late(found, dratio):
    return f"**{share(found.late)}**" if found.late > dratio else share(found.late)


def verdicts(five, six, seven, hard):
    grows = all(five[e, a].buffer < five[e, b].buffer for e in PERIODS for a, b in pairwise(WINDOWS))
    falls = all(five[e, a].late >= five[e, b].late for e in PERIODS for a, b in pairwise(WINDOWS))
    at = {w: max(five[e, w].late for e in PERIODS) for w in WINDOWS}
    least = next((w for w in WINDOWS if at[w] <= 0.01), None)
    constant_worst = max(six[("constant", s), d].late / d for s in SIGMAS for d in RATIOS)
    changing_worst = {d: max(six[("changing", e), d].late / d for e in PERIODS) for d in RATIOS}
    gap = [six[("constant", s), 0.001].buffer / seven["constant", s].buffer for s in SIGMAS]
    changing_gap = [six[("changing", e), 0.001].buffer / seven["changing", e].buffer for e in PERIODS]
    two_max_late = max(seven[key].late for key in seven)
    fit, of = kept(hard, "periodic")
    return [
        Claim(
            "5: a larger W makes the buffer larger and the drops fewer",
            "so it is" if grows and falls else "not so",
            grows and falls,
        ),
        Claim(
            "5: drops stay within 1% from a W between 100 and 1,000",
            f"{share(at[100])} at 100, {share(at[1_000])} at 1,000; first kept at W = {least:,}",
            at[100] > 0.01 >= at[1_000],
        ),
        Claim("6a: constant streams: no ratio is violated", f"at most {constant_worst:.2f} D", constant_worst <= 1),
        Claim(
            "6b: changing streams: 1% and 0.5% are observed",
            ", ".join(f"{changing_worst[d]:.2f} D at {share(d)}" for d in RATIOS[:2]),
            max(changing_worst[d] for d in RATIOS[:2]) <= 1,
        ),
        Claim("6b: 0.1% is violated", f"{changing_worst[0.001]:.2f} D", changing_worst[0.001] > 1),
        Claim(
            "7a: constant streams: buffers are similar",
            f"periodic {min(gap):.2f} to {max(gap):.2f} times two-max",
            min(gap) >= 0.8 and max(gap) <= 1.25,
        ),
        Claim(
            "7b: changing streams: two-max is smaller, by up to 15%",
            f"periodic {min(changing_gap):.2f} to {max(changing_gap):.2f} times two-max",
            min(changing_gap) > 1 and max(changing_gap) <= 1.2,
        ),
        Claim("two-max with W >= lambda stays within 0.1%", f"{share(two_max_late)} at most", two_max_late <= 0.001),
        Claim(
            "beyond the paper: the ratio is kept where delays are not normal",
            f"periodic keeps the ratio in {fit} of {of} cases below",
            fit == of,
        ),
    ]


def plot_five(five):
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.0, 2.9))
    for axes, pick, text in ((left, lambda r: r.buffer, "rows held"), (right, lambda r: 100 * r.late, "late, %")):
        series = {f"every {every} s": [pick(five[every, w]) for w in WINDOWS] for every in PERIODS}
        lines_plot(axes, WINDOWS, series, xscale="log", xlabel="W, rows", ylabel=text, ylim=(0, None))
    right.axhline(1.0, color="black", linewidth=0.8)
    return save(figure, "adcj-figure-5")


def plot_six(six):
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.0, 2.9))
    for axes, kind, x, text in (
        (left, "constant", SIGMAS, "sigma, s (constant)"),
        (right, "changing", PERIODS, "changes every, s"),
    ):
        series = {f"D = {share(d)}": [six[(kind, at), d].late / d for at in x] for d in RATIOS}
        lines_plot(axes, x, series, xlabel=text, ylabel="late share / D", xticks=x, ylim=(0, None))
        axes.axhline(1.0, color="black", linewidth=0.8)
    return save(figure, "adcj-figure-6")


def plot_seven(six, seven, ours):
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.0, 2.9))
    for axes, kind, x, text in (
        (left, "constant", SIGMAS, "sigma, s (constant)"),
        (right, "changing", PERIODS, "changes every, s"),
    ):
        series = {
            "periodic": [six[(kind, at), 0.001].buffer for at in x],
            "two-max": [seven[kind, at].buffer for at in x],
        } | {name: [runs[(kind, at), 0.001].buffer for at in x] for name, runs in ours.items()}
        lines_plot(axes, x, series, xlabel=text, ylabel="rows held at D = 0.1%", xticks=x, ylim=(0, None))
    return save(figure, "adcj-figure-7")


if __name__ == "__main__":
    main()
