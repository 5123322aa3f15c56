"""Pictures of windows: extents, panes, the record store and sync rows."""

from __future__ import annotations

from collections.abc import Callable

from tools.pictures.style import (
    AMBER,
    BLUE,
    FAINT,
    GREY,
    INK,
    PALE_AMBER,
    PALE_BLUE,
    PALE_TEAL,
    RED,
    SMALL,
    arrow,
    bar,
    box,
    diagram,
    lanes,
    note,
    save,
)

ROWS = (1.0, 3.5, 6.2, 7.0, 11.0, 12.4, 13.0, 16.5, 18.0, 22.0)


def draw_extents(name: str) -> None:
    """Draw the extents of RANGE 10 SLIDE 5, and which of them one row belongs to."""
    names = {4.0: "rows", 3.0: "ends at 10", 2.0: "ends at 15", 1.0: "ends at 20", 0.0: "ends at 25"}
    figure, axes = lanes("[RANGE 10 seconds SLIDE 5 seconds]: each row is in two extents", names, 27)
    for y, end in ((3, 10), (2, 15), (1, 20), (0, 25)):
        mine = end - 10 <= 7.0 < end
        count = sum(end - 10 <= row < end for row in ROWS)
        bar(axes, end - 10, end, y, PALE_AMBER if mine else PALE_BLUE)
        place = end - 9.8 if end < 25 else 17.3
        note(axes, place, y, f"[{end - 10}, {end}): {count} rows", INK, ha="left")
    for row in ROWS:
        axes.plot(row, 4, "o", color=AMBER if row == 7.0 else GREY, markersize=9)
    axes.plot((7.0, 7.0), (2, 3.85), color=AMBER, linewidth=1.2, linestyle=":")
    axes.axvline(17, color=BLUE, linewidth=2)
    note(axes, 16.8, 4.5, "watermark 17: two extents are answered", BLUE, ha="right")
    axes.set_xticks(range(0, 26, 5))
    save(figure, name)


def draw_panes(name: str) -> None:
    """Draw how extents are put together from panes, each of which is summed once."""
    sums = [sum(start <= row < start + 5 for row in ROWS) for start in range(0, 25, 5)]
    names = {4.0: "rows", 3.0: "panes", 2.0: "ends at 10", 1.0: "ends at 15", 0.0: "ends at 20"}
    figure, axes = lanes("Each row is counted once, in its pane; an extent adds panes", names, 27)
    for row in ROWS:
        axes.plot(row, 4, "o", color=GREY, markersize=9)
    for number, count in enumerate(sums):
        bar(axes, 5 * number, 5 * number + 5, 3, PALE_TEAL, f"{count}")
    for y, first in ((2, 0), (1, 1), (0, 2)):
        total = f"{sums[first]} + {sums[first + 1]} = {sums[first] + sums[first + 1]}"
        bar(axes, 5 * first, 5 * first + 10, y, PALE_BLUE, total)
    axes.set_xticks(range(0, 26, 5))
    save(figure, name)


def draw_store(name: str) -> None:
    """Draw the record store: an i-node that points to p-nodes, each with slots of time."""
    figure, axes = diagram("The record store: a row's place is computed, never searched", high=46)
    note(axes, 0, 42, "i-node: where is each p-node?", INK, ha="left")
    for number in range(6):
        text = ("dropped", "p-node 1", "p-node 2", "p-node 3", "", "")[number]
        edge, fill = (BLUE, PALE_BLUE) if number in (1, 2, 3) else (GREY, "white")
        box(axes, 13 * number, 33, 12, 6, text, edge=edge, fill=fill, size=SMALL)
    waiting = {(1, 1): "●", (1, 3): "● ●", (2, 0): "●", (2, 2): "● ●", (3, 1): "●"}
    for number, x in ((1, 4), (2, 37), (3, 70)):
        arrow(axes, (13 * number + 6, 33), (x + 14, 23), BLUE)
        for slot in range(4):
            place = number == 2 and slot == 2
            edge, fill = (AMBER, PALE_AMBER) if place else (BLUE, "white")
            box(axes, x + 7 * slot, 15, 7, 8, waiting.get((number, slot), ""), edge=edge, fill=fill)
        first = 40 * number
        for slot in range(5):
            note(axes, x + 7 * slot, 12.8, f"{first + 10 * slot}", FAINT)
    axes.plot((18, 18), (9, 26), color=RED, linewidth=2)
    note(axes, 16.5, 25.5, "punctuation 60", RED, ha="right")
    note(axes, 0, 5.5, "rows left of it are released; a p-node\nthat is empty is dropped as a whole", RED, ha="left")
    note(
        axes,
        100,
        5.5,
        "a row of time 107: slot 107 ÷ 10 = 10,\np-node 10 ÷ 4 = 2, slot 2 of that p-node",
        AMBER,
        ha="right",
    )
    arrow(axes, (64, 8.5), (55, 15), AMBER)
    save(figure, name)


def draw_sync(name: str) -> None:
    """Draw two streams whose extents meet at boundaries, and the sync rows of the answer."""
    names = {3.2: "RANGE 5\nSLIDE 5", 1.95: "RANGE 10\nSLIDE 5", 0.9: "join", 0.0: "answer"}
    figure, axes = lanes("Extents that end at the same boundary join; a sync row follows", names, 17.5, 3.9)
    for end in (5, 10, 15):
        bar(axes, end - 5, end, 3.2, PALE_BLUE, f"[{end - 5}, {end})")
        start = max(0, end - 10)
        bar(axes, start, end, 2.75 - 0.08 * end, PALE_TEAL, f"[{start}, {end})", 0.36)
        axes.axvline(end, color=FAINT, linewidth=1, linestyle=":")
        axes.plot(end, 0.9, "D", color=INK, markersize=7)
        for place in range(3):
            axes.plot(end + 0.45 + 0.35 * place, 0, "o", color=GREY, markersize=8)
        axes.plot(end + 1.55, 0, "s", color=AMBER, markersize=10)
    note(axes, 5.3, 0.9, "boundary 5 of both", INK, ha="left")
    note(axes, 10.3, 0.42, "sync row: boundary 10 is complete", AMBER, ha="left")
    axes.set_xticks(range(0, 16, 5))
    save(figure, name)


PICTURES: dict[str, Callable[[str], None]] = {
    "extents": draw_extents,
    "panes": draw_panes,
    "store": draw_store,
    "sync": draw_sync,
}
