"""The mixed model beside the two older ones: tuples sent, and how late answers are.

20,000 rows on each stream, one a millisecond, of which windows hold 10 seconds (the right side of EXCEPT and of the
join 3); batches of one second, until the last row has left its window; 1,000 keys but where another number is given.
*Answers* are what the query yields, *all* what every operator sends, windows and filters included, per row that came.

| column | what is sent |
| --- | --- |
| mixed | positives with a bound, negatives for what ends before it: the rows of EMIT CHANGES with `netChanges` off |
| upserts | the same with `changelog.upserts`: where a key's next row follows at once, no negative |
| net | the default of EMIT CHANGES: each batch compressed; an answer waits for the end of its batch |
| net upserts | both |
| in 5 s | both, in batches of five seconds: answers wait as long as some of the temporal model's do |
| pos/neg | STREAM: a positive and a negative for every tuple, on every edge |
| temporal | PIPES: exact lifetimes only, so that what has none at its birth is sent when it is over |
| by inputs | the same as APAS describes its aggregate (3.2): ordered by start, so that each input sends every group |

The older models are operators of their own (`bench/changelog/older`), which send nothing where a result stays the same;
only aggregates tell their value at every input, in all models. A test holds all of them against the reference
interpreter, at every point in time.
"""

from __future__ import annotations

import sys
from statistics import mean

import matplotlib.pyplot as plt
import numpy as np

from bench.changelog.older.positive_negative import PositiveNegative
from bench.changelog.older.temporal import Temporal, pieces_by_inputs
from bench.changelog.runs import (
    MS,
    batches,
    distinct,
    grouped_sum,
    inputs_of,
    joined,
    kernel,
    minus,
    only_k,
    rows,
    stream,
    where_x,
    window,
)
from bench.disorder.report import COLOURS, page, save, table
from slackwater.engine.plan import Source, walk

ROWS, GAP, BATCH = 20_000, MS, 1_000
NOW = (ROWS + 11_000) * GAP + 1
"""When all is over."""
GROUPS = (1, 10, 100, 1_000, 10_000)
S, R = window(stream("S"), 10), window(stream("R"), 3)
QUERIES = {
    "join": (joined(S, R), 1_000),
    "distinct": (distinct(only_k(S)), 1_000),
    "distinct, 100,000 keys": (distinct(only_k(S)), 100_000),
    "minus": (minus(only_k(S), only_k(R)), 1_000),
} | {f"sum of {groups:,} groups": (grouped_sum(where_x(S)), groups) for groups in GROUPS}
FORMS = {
    "mixed": ({}, BATCH),
    "upserts": ({"upserts": True}, BATCH),
    "net": ({"net": True}, BATCH),
    "net upserts": ({"net": True, "upserts": True}, BATCH),
    "in 5 s": ({"net": True, "upserts": True}, 5 * BATCH),
}
"""Options, and rows a batch."""
OLDER = {"pos/neg": PositiveNegative, "temporal": Temporal}
MODELS = (*FORMS, *OLDER, "by inputs")


def measured(query, keys):
    """By model, per row that came: answers, what all operators sent; and the mean delay of an answer in ms."""
    given = {name: rows(ROWS, keys, GAP, seed) for name, seed in (("S", 1), ("R", 2)) if name in inputs_of(query)}
    came = ROWS * len(given)
    below = sum(sent(each, given, *FORMS["mixed"])[0] for each in operators(query)[1:])
    found = {}
    for name, form in FORMS.items():
        answers, delay = sent(query, given, *form)
        found[name] = answers / came, (answers + below) / came, delay
    streams = {name: (batch.schema.names, timed(batch)) for name, batch in given.items()}
    for name, model in OLDER.items():
        made = model(streams)
        edge = made.run(query)
        operating = [each.sent(NOW) for each in made.edges]
        sources = ROWS * sum(isinstance(each, Source) for each in walk(query))
        found[name] = edge.sent(NOW) / came, (sum(operating) - sources) / came, mean(edge.delays(NOW)) / MS
    cut = found["temporal"]
    if query.edge.level == 4:
        inputs = np.append(np.arange(1, ROWS + 1) * GAP, NOW - 1)  # one more at the end, for what waits for it
        count, _ = pieces_by_inputs(edge, inputs, NOW)
        _, delays = pieces_by_inputs(edge, inputs[:-1], NOW)
        cut = count / came, (count + sum(operating[:-1]) - sources) / came, mean(delays) / MS
    return found | {"by inputs": cut}


def operators(node):
    """Return every operator but the streams, each before its inputs."""
    return [each for each in walk(node) if not isinstance(each, Source)]


def sent(query, given, options, batch_size):
    """Return the rows of a changelog, and how long its answers waited in ms; without compression none waits."""
    options = options if query.edge.key is not None else {name: on for name, on in options.items() if name != "upserts"}
    made = kernel(query, **options)
    given = {name: each for name, each in given.items() if name in made.query.inputs}
    state, count, waits = made.init(), 0, []
    after = (({}, mark) for mark in range((ROWS + batch_size) * GAP + 1, NOW + batch_size * GAP, batch_size * GAP))
    for batch, mark in [*batches(given, batch_size, GAP), *after]:
        step = made.step(state, batch, mark)
        state = step.state
        count += step.changelog.num_rows
        waits += ((mark - step.log.born.start) / MS).tolist() if "net" in options else []
    return count, mean(waits) if waits else 0.0


def timed(batch):
    """Times, and rows as tuples."""
    columns = [batch.column("k").to_pylist(), batch.column("x").to_pylist(), (np.arange(1, ROWS + 1) * GAP).tolist()]
    return [(row[-1], row) for row in zip(*columns, strict=True)]


def plot(found):
    figure, axes = plt.subplots(1, 3, figsize=(12.5, 3.8))
    grouped = {groups: found[f"sum of {groups:,} groups"] for groups in GROUPS}
    for number, model in enumerate(MODELS):
        colour = [*COLOURS, "black", "darkorange", "purple"][number]
        style = {"color": colour, "marker": "os^vDxP*"[number], "markersize": 4, "linewidth": 1.3, "label": model}
        style |= {"linestyle": "--" if "upserts" in model else "-"}
        for place in (0, 1, 2):
            axes[place].plot(
                GROUPS, [max(each[model][place], 1e-3 if place < 2 else 0.1) for each in grouped.values()], **style
            )
    titles = ("answers per row", "tuples of all operators per row", "mean delay of an answer, ms (0 is drawn at 0.1)")
    for each, text in zip(axes, titles, strict=True):
        each.set(xscale="log", yscale="log", xlabel="groups")
        each.set_title(text, fontsize=9)
        each.grid(alpha=0.3)
    axes[0].legend(fontsize=7)
    figure.suptitle("a sum over RANGE 10 seconds, by number of groups", fontsize=10)
    return save(figure, "changelog-models")


def more(found, mine, other, place):
    """Return the cases in which one model sends more rows than another."""
    cases = [name for name, each in found.items() if each[mine][place] > each[other][place] * 1.0001]
    return ", ".join(cases) or "none"


def verdicts(found):
    others = ("pos/neg", "temporal", "by inputs")
    lines = [
        (mine, ("answers", "all")[place], *(more(found, mine, other, place) for other in others))
        for mine in FORMS
        for place in (0, 1)
    ]
    return table(("form", "counted", *(f"more than {other} for" for other in others)), lines)


def findings(found):
    minus_, dense = found["minus"], found["distinct"]
    return [
        "- **Positive/negative.** All operators together, the mixed model sends less in every case, mostly half: "
        "windows send no negatives. Of the answers alone it sends more for DISTINCT over values that come again and "
        f"again ({dense['mixed'][0]:.2f} against {dense['pos/neg'][0]:.2f}): a value that stays is told once where "
        "nothing has a bound, and told anew whenever its bound has come where everything has. Where values are rare it "
        "is the other way round. When a value is first seen nobody knows which it will be, so that no model can have "
        "the better of both.",
        "- **Temporal, aggregates.** A positive and a negative at each input are one tuple more than a value that is "
        "sent once, when it is over. With `changelog.upserts` the mixed model sends as many tuples as the temporal "
        "one, in all cases, and sends them at once.",
        f"- **Temporal, EXCEPT.** {minus_['mixed'][0]:.3f} answers per row against {minus_['temporal'][0]:.3f}: a "
        "result that is told before anyone knows how it ends, and is then ended by a match, needs a second tuple. "
        "Nothing follows it, so that upserts do not help. The temporal model says it "
        f"{minus_['temporal'][2]:,.0f} ms later on average, when it no longer holds. Net changes that may be late as "
        f"well, by {minus_['in 5 s'][2]:,.0f} ms, send {minus_['in 5 s'][0]:.3f}.",
        "- **Temporal, DISTINCT.** Its tuples are known at once: what each input covers beyond those before it. One "
        f"that waited until a value is gone would send {dense['pos/neg'][0] / 2:.2f} per row, as late as EXCEPT.",
        "- **Temporal, as APAS describes it** (by inputs). What is ordered by start has to send every group at each "
        "input. Against that the mixed model sends no more in any case, but for the sum of one group without upserts.",
        '- So "no more than either" holds, of all that operators send: against positive/negative in every form; '
        "against the temporal model as APAS describes it with upserts; against one that may be as late as it likes "
        "with upserts for joins, DISTINCT and aggregates, at once, and for EXCEPT where the mixed model may be "
        "late too, though not as late. In batches of five seconds it sends less than either in every case. At "
        "once, EXCEPT has to send more than who waits.",
    ]


def main():
    found = {name: measured(*query) for name, query in QUERIES.items()}
    answers = [
        (name, *(f"{each[model][0]:,.2f} / {each[model][2]:,.0f} ms" for model in MODELS))
        for name, each in found.items()
    ]
    everything = [(name, *(f"{each[model][1]:,.2f}" for model in MODELS)) for name, each in found.items()]
    page(
        "changelog-models",
        "# Three models of a changelog",
        __doc__.split("\n\n", 1)[1] + "\n`python -m bench changelog-models` writes this page.",
        table(("answers per row / mean delay", *MODELS), answers),
        table(("tuples of all operators per row", *MODELS), everything),
        plot(found),
        "## Where the mixed model sends more",
        verdicts(found),
        "## What it shows",
        *findings(found),
    )


if __name__ == "__main__":
    sys.exit(main())
