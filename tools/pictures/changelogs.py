"""Pictures of changelogs: lifetimes, classes, three ways to send them, and the net change of a batch."""

from __future__ import annotations

from collections.abc import Callable

from matplotlib import pyplot as plt
from tools.pictures.style import (
    AMBER,
    BLUE,
    FAINT,
    GREY,
    INK,
    PALE,
    PALE_AMBER,
    PALE_BLUE,
    PALE_TEAL,
    RED,
    SMALL,
    TEAL,
    TEXT,
    WIDTH,
    bar,
    lanes,
    note,
    plot,
    save,
)


def draw_lifetimes(name: str) -> None:
    """Draw the changelog of a count over 10 seconds: rows at 1 and 4."""
    figure, axes = plot("A count over the last 10 seconds: rows come at 1 and at 4", 2.8)
    for value, start, told, end in ((1, 1, 11, 4), (2, 4, 11, 11), (1, 11, 14, 14)):
        axes.plot((start, told), (value, value), color=GREY, linewidth=9, solid_capstyle="butt")
        axes.plot((start, end), (value, value), color=TEAL, linewidth=9, solid_capstyle="butt")
    axes.plot(4, 1, "X", color=RED, markersize=12)
    axes.annotate("delete at 4: it ends before the 11\nthat was announced", (4.5, 1.17), fontsize=SMALL, color=RED)
    note(axes, 14.2, 1.3, "teal: what holds\ngrey: announced, and ended early", INK)
    axes.set(xlim=(0, 17), ylim=(0.5, 2.5), yticks=(1, 2), xlabel="event time, seconds", ylabel="count")
    save(figure, name)


def draw_classes(name: str) -> None:
    """Draw the lifetimes of the four classes."""
    figure, all_axes = plt.subplots(2, 2, figsize=(WIDTH, 3.9))
    panels = (
        ("1: rows never end", ((1, 15), (3, 15), (6, 15)), "a stream, a filter"),
        ("2: rows end in the order of their beginning", ((1, 7), (3, 9), (6, 12)), "RANGE 6 seconds"),
        ("3: the end is known at the beginning", ((1, 12), (3, 6), (6, 10)), "a join of two windows"),
        ("4: a later row may end it", ((1, 5), (3, 9), (6, 12)), "an aggregate, EXCEPT"),
    )
    for number, (axes, (title, lives, example)) in enumerate(zip(all_axes.flat, panels, strict=True)):
        for y, (start, end) in enumerate(lives):
            if number == 3 and y == 0:
                axes.plot((start, 11), (-y, -y), color=GREY, linewidth=8, solid_capstyle="butt")
            axes.plot((start, end), (-y, -y), color=TEAL, linewidth=8, solid_capstyle="butt")
            if number == 0:
                axes.plot(15, -y, ">", color=TEAL, markersize=10)
            if number == 3 and y == 0:
                axes.plot(end, -y, "X", color=RED, markersize=11)
        axes.set_title(title, loc="left", fontsize=TEXT, color=INK)
        axes.text(15.8, -2.75, example, fontsize=SMALL, color=FAINT, ha="right")
        axes.set(xlim=(0, 16), ylim=(-3, 0.6), xticks=(), yticks=())
        axes.spines[["top", "right", "left"]].set_visible(False)
    save(figure, name)


def draw_models(name: str) -> None:
    """Draw what three models send for the same counts, and when."""
    names = {3.0: "the count", 2.0: "insert and\ndelete", 1.0: "whole\nlifetimes", 0.0: "both\n(here)"}
    figure, axes = lanes("The count of the last 10 seconds: what is sent, and when", names, 17, 4.0)
    for start, end, value in ((1, 4, 1), (4, 11, 2), (11, 14, 1)):
        bar(axes, start, end, 3, PALE_TEAL, f"{value}")
    sent = {
        2: ((1, "+1"), (4, "-1 +2"), (11, "-2 +1"), (14, "-1")),
        1: ((4, "1 [1, 4)"), (11, "2 [4, 11)"), (14, "1 [11, 14)")),
        0: ((1, "+1 to 11"), (4, "-1 +2 to 11"), (11, "+1 to 14")),
    }
    colours = {2: PALE_BLUE, 1: PALE_AMBER, 0: PALE_TEAL}
    for y, messages in sent.items():
        for when, text in messages:
            axes.text(when, y, text, fontsize=SMALL, ha="center", va="center",
                      bbox={"boxstyle": "round,pad=0.35", "fc": colours[y], "ec": "none"})  # fmt: skip
    for y, text, colour in ((2, "6 messages, at once", BLUE), (1, "3 messages, each when it is over", AMBER),
                            (0, "4 messages, at once", TEAL)):  # fmt: skip
        note(axes, 17, y - 0.42, text, colour, ha="right")
    axes.set_xticks((1, 4, 11, 14))
    save(figure, name)


def draw_net(name: str) -> None:
    """Draw the changes of one key in a batch, and the one change that is written."""
    names = {1.0: "all changes", 0.0: "net change"}
    figure, axes = lanes("One key in a batch from 20 to 30: five answers, one net change", names, 42, 2.6)
    axes.axvspan(20, 30, color="#f3f5f9", zorder=0)
    for start, end, value in ((14, 21, 7), (21, 23, 8), (23, 24, 9), (24, 26, 8), (26, 29, 9), (29, 38, 10)):
        bar(axes, start, end, 1, PALE_BLUE if start >= 20 else PALE, f"{value}")
    bar(axes, 14, 21, 0, PALE, "7")
    bar(axes, 29, 38, 0, PALE_TEAL, "insert 10")
    axes.plot(21, 0, "X", color=RED, markersize=11)
    note(axes, 21.7, 0, "delete 7", RED, ha="left")
    axes.set_xticks((20, 30))
    save(figure, name)


PICTURES: dict[str, Callable[[str], None]] = {
    "lifetimes": draw_lifetimes,
    "classes": draw_classes,
    "models": draw_models,
    "net": draw_net,
}
