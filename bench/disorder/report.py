"""Pages and plots of the experiments, in `docs/experiments`: what the paper says next to what was found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from bench.disorder.runs import ROOT, Run

PAGES = ROOT / "docs" / "experiments"
COLOURS = ("#1b6ca8", "#d1495b", "#2e8b57", "#8d6a9f", "#777777")
MARKS = ("o", "s", "^", "D", "x")


@dataclass(frozen=True, slots=True)
class Claim:
    """What a paper says, what was found, and whether that bears it out."""

    paper: str
    found: str
    holds: bool


def share(value: float) -> str:
    """In per cent, with as many digits as make sense.

    >>> share(0.0123), share(0.00004), share(0.15)
    ('1.23%', '0.004%', '15.0%')
    """
    return f"{value:.1%}" if value >= 0.095 else f"{value:.2%}" if value >= 0.0005 else f"{value:.3%}"


def seconds(value: float) -> str:
    return f"{value:.1f} s" if value >= 10 else f"{value:.2f} s"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def claims(found: Sequence[Claim]) -> str:
    lines = [(claim.paper, claim.found, "holds" if claim.holds else "**does not hold**") for claim in found]
    return table(("the paper", "found here", ""), lines).replace("---:", "---")


def elsewhere_table(found: dict[tuple[str, float, str], Run], labels: Sequence[str], dratio: float) -> str:
    """Late share and mean hold of each estimator on each hard stream; a broken ratio is bold."""
    names = list(dict.fromkeys(name for name, _, _ in found))
    lines = [(name, *(cell(found[name, dratio, label], dratio) for label in labels)) for name in names]
    return table((f"late / mean hold at D = {share(dratio)}", *labels), lines)


def cell(run: Run, dratio: float) -> str:
    late = share(run.late)
    return f"{f'**{late}**' if run.late > dratio else late} / {seconds(run.hold)}"


def kept(found: dict[tuple[str, float, str], Run], label: str) -> tuple[int, int]:
    """On how many combinations of stream and ratio the ratio was kept, and of how many."""
    runs = [(run.late, dratio) for (_, dratio, name), run in found.items() if name == label]
    return sum(late <= dratio for late, dratio in runs), len(runs)


def elsewhere_plot(found: dict[tuple[str, float, str], Run], labels: Sequence[str], name: str, title: str) -> str:
    """Late share over D, and hold over the best constant's, for each stream; every ratio is a point."""
    streams = list(dict.fromkeys(stream for stream, _, _ in found))
    ratios = sorted({dratio for _, dratio, _ in found})
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 0.8 + 0.42 * len(streams)), sharey=True)
    for number, label in enumerate(labels):
        rows = [(at, dratio) for at in range(len(streams)) for dratio in ratios]
        shift = (number - (len(labels) - 1) / 2) * 0.17
        style = {"color": COLOURS[number], "marker": MARKS[number], "s": 18, "label": label}
        runs = [(at + shift, dratio, found[streams[at], dratio, label]) for at, dratio in rows]
        left.scatter([max(run.late / dratio, 3e-3) for _, dratio, run in runs], [at for at, _, _ in runs], **style)
        best = [found[streams[at], dratio, "best constant"].hold for at, dratio in rows]
        held = [max(run.hold / max(hold, 1e-3), 1e-2) for (_, _, run), hold in zip(runs, best, strict=True)]
        right.scatter(held, [at for at, _, _ in runs], **style)
    for axes, text in ((left, "late share / D (right of the line: broken)"), (right, "mean hold / best constant's")):
        axes.set(xscale="log", xlabel=text, yticks=range(len(streams)), yticklabels=streams)
        axes.axvline(1.0, color="black", linewidth=0.8)
        axes.grid(axis="x", alpha=0.3)
    left.invert_yaxis()
    handles, _ = left.get_legend_handles_labels()
    below = {"loc": "lower center", "bbox_to_anchor": (0.5, -0.06)}
    figure.legend(handles, labels, ncols=len(labels), frameon=False, fontsize=8, **below)
    figure.suptitle(title, fontsize=10)
    return save(figure, name)


def lines_plot(axes: plt.Axes, x: Sequence, series: dict[str, Sequence[float]], **settings) -> None:
    """One line per entry; labels, scales and limits as settings of the axes."""
    for number, (label, y) in enumerate(series.items()):
        axes.plot(x, y, color=COLOURS[number], marker=MARKS[number], markersize=4, linewidth=1.3, label=label)
    axes.set(**settings)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)


def save(figure: Figure, name: str) -> str:
    """Writes the picture; says how a page shows it."""
    PAGES.mkdir(parents=True, exist_ok=True)
    for axes in figure.axes:
        axes.tick_params(labelsize=8)
        axes.xaxis.label.set_size(8)
        axes.yaxis.label.set_size(8)
        axes.title.set_size(9)
    figure.tight_layout()
    figure.savefig(PAGES / f"{name}.png", dpi=110, bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)
    return f"![{name}]({name}.png)"


def page(name: str, *parts: str) -> None:
    """Writes the page and prints it."""
    text = "\n\n".join(part.strip() for part in parts) + "\n"
    PAGES.mkdir(parents=True, exist_ok=True)
    (PAGES / f"{name}.md").write_text(text)
    print(text)
    print(f"written: docs/experiments/{name}.md")
