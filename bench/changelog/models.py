"""The mixed model beside the two older ones: tuples sent, and how late answers are.

20,000 rows, one a millisecond, of which windows hold 10 seconds; batches of one second. `net` is the mixed model with
each batch compressed. `temporal` sends a result when its lifetime is known; `by inputs` is the temporal aggregate as
APAS describes PIPES': every group that lives, at each input. Where a lifetime is known at birth, both send at once.
"""

from __future__ import annotations

import sys

import matplotlib.pyplot as plt
import numpy as np

from bench.changelog.runs import (
    MS,
    distinct,
    grouped_sum,
    joined,
    kernel,
    logs,
    minus,
    only_k,
    rows,
    stream,
    where_x,
    window,
)
from bench.disorder.report import COLOURS, page, save, table
from slackwater.kernels.changelog.models import mixed, pieces, positive_negative, results_of, temporal

ROWS, GAP = 20_000, MS
GROUPS = (1, 10, 100, 1_000, 10_000)
S, R = window(stream("S"), 10), window(stream("R"), 3)
QUERIES = {
    "join": (joined(S, R), 1_000),
    "distinct": (distinct(only_k(S)), 1_000),
    "minus": (minus(only_k(S), only_k(R)), 1_000),
} | {f"sum of {groups:,} groups": (grouped_sum(where_x(S)), groups) for groups in GROUPS}
MODELS = ("mixed", "net", "positive/negative", "temporal", "temporal, by inputs")


def measured(query, keys):
    """By model, the tuples sent for each row that came, and the mean delay in milliseconds."""
    given = {"S": rows(ROWS, keys, GAP, seed=1), "R": rows(ROWS, keys, GAP, seed=2)}
    given = given if "'R'" in str(query) else {"S": given["S"]}
    made = kernel(query)
    results = results_of(list(logs(made, given, 1_000, GAP)))
    net = sum(len(log.born) + len(log.at) for log in logs(kernel(query, net=True), given, 1_000, GAP))
    now, came = ROWS * GAP + 1, ROWS * len(given)
    known = query["class"] < 4
    told = {
        "mixed": mixed(results, now),
        "positive/negative": positive_negative(results, now),
        "temporal": temporal(results, now, known),
    }
    found = {name: (len(each) / came, each.delay(results).mean() / MS) for name, each in told.items()}
    cut = found["temporal"] if known else by_inputs(results, now, came)
    return found | {"net": (net / came, 500.0), "temporal, by inputs": cut}


def by_inputs(results, now, came):
    """Only counted: with 10,000 groups there are 200 million pieces."""
    moments, first, count = pieces(results, now, np.arange(1, ROWS + 1) * GAP)
    sent = count > 0
    delay = (moments[first[sent]] - results.start[sent]).mean() / MS
    return count.sum() / came, delay


def cell(found, model):
    sent, delay = found[model]
    return f"{sent:,.2f}" if model == "net" else f"{sent:,.2f} / {delay:,.0f} ms"


def plot(found):
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.6))
    grouped = {groups: found[f"sum of {groups:,} groups"] for groups in GROUPS}
    for number, model in enumerate(MODELS):
        style = {"color": COLOURS[number], "marker": "o", "markersize": 4, "linewidth": 1.3, "label": model}
        axes[0].plot(GROUPS, [each[model][0] for each in grouped.values()], **style)
        if model != "net":
            axes[1].plot(GROUPS, [max(each[model][1], 0.1) for each in grouped.values()], **style)
    for each, text in zip(
        axes, ("tuples sent per row", "mean delay of an answer, ms (0 is drawn at 0.1)"), strict=True
    ):
        each.set(xscale="log", yscale="log", xlabel="groups", title=text)
        each.grid(alpha=0.3)
    axes[0].legend(fontsize=7)
    figure.suptitle("a sum over RANGE 10 seconds, by number of groups", fontsize=10)
    return save(figure, "changelog-models")


def verdict(found):
    """Where the mixed model sends more than another."""
    others = [model for model in MODELS if model not in ("mixed", "net")]
    pairs = [(name, each, other) for name, each in found.items() for other in others]
    return [
        [(name, other) for name, each, other in pairs if each[mine][0] > each[other][0] * 1.0001]
        for mine in ("mixed", "net")
    ]


def main():
    found = {name: measured(*query) for name, query in QUERIES.items()}
    lines = [(name, *(cell(each, model) for model in MODELS)) for name, each in found.items()]
    more, net = (", ".join(dict.fromkeys(name for name, _ in each)) or "none" for each in verdict(found))
    by_inputs_ = ", ".join(name for name, other in verdict(found)[0] if other == MODELS[-1]) or "none"
    page(
        "changelog-models",
        "# Three models of a changelog",
        __doc__.split("\n\n", 1)[1] + "\n`python -m bench changelog-models` writes this page.",
        table(("tuples sent per row / mean delay", *MODELS), lines),
        plot(found),
        "## What it shows",
        "- Against positive/negative the mixed model never sends more, and about half as much where lifetimes are "
        "known (join, distinct over windows). Both answer at once.",
        f"- Against the temporal aggregate of PIPES as APAS describes it, it sends more for: {by_inputs_}. With more "
        "groups that model sends each of them at every input.",
        "- A temporal model that waits until a result is over sends it once, where the mixed one may need a positive "
        f"and a negative: uncompressed, the mixed model sends more than that for {more}. The price is the delay: the "
        "answer comes when it no longer holds.",
        f"- Compressed to the net change of a batch of one second, it sends more than some other model for: {net}. An "
        "answer then waits for the end of its batch, half a second on average.",
    )


if __name__ == "__main__":
    sys.exit(main())
