"""Pictures of the execution on Spark: the two kinds of plan, one micro-batch, the state between batches."""

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
    PALE_RED,
    PALE_TEAL,
    RED,
    SMALL,
    TEAL,
    arrow,
    box,
    diagram,
    note,
    save,
)


def draw_plans(name: str) -> None:
    """Draw a native plan above a fused one."""
    figure, axes = diagram("Two kinds of plan: blue runs in the JVM, amber in Python", high=46)
    note(axes, 0, 43.5, "native: windows of time, aggregates, joins at boundaries, DISTINCT, EXCEPT", INK, ha="left")
    native = ("scan and\ngauge", "WHERE,\nkeys", "boundary\nof each row", "Spark's\naggregate", "select\nlist", "sink")
    fused = (
        "scan and\ngauge",
        "WHERE,\nkeys",
        "rows of a bucket\nas Arrow",
        "engine: one call\nper bucket",
        "select\nlist",
        "sink",
    )
    for y, plan, wide in ((29, native, (13, 13, 16, 16, 11, 9)), (5, fused, (13, 11, 18, 18, 10, 8))):
        x = 0.0
        for place, (text, width) in enumerate(zip(plan, wide, strict=True)):
            ours = y == 5 and place in (2, 3)
            box(
                axes,
                x,
                y,
                width,
                10,
                text,
                edge=AMBER if ours else BLUE,
                fill=PALE_AMBER if ours else PALE_BLUE,
                size=SMALL,
            )
            if place < 5:
                arrow(axes, (x + width, y + 5), (x + width + 4.4, y + 5), FAINT)
            x += width + 4.4
    note(axes, 0, 20, "fused: windows of rows, answers at every row, frequencies, EMIT CHANGES", INK, ha="left")
    note(axes, 64, 2, "state in Spark's state store", FAINT)
    note(axes, 64, 26, "state in Spark's state store", FAINT)
    save(figure, name)


def draw_batch(name: str) -> None:
    """Draw the steps of one micro-batch, what each writes, and what a crash does."""
    figure, axes = diagram("One micro-batch, and what is written when", high=45)
    steps = (
        "offsets\nof batch 7",
        "rows are\ncomputed",
        "operators'\nstate",
        "sink has\nthe rows",
        "controller:\nwatermark",
        "commit\nof batch 7",
    )
    for place, text in enumerate(steps):
        x = 17.2 * place
        written = place in (0, 2, 4, 5)
        box(
            axes,
            x,
            27,
            14,
            11,
            text,
            edge=AMBER if written else BLUE,
            fill=PALE_AMBER if written else PALE_BLUE,
            size=SMALL,
        )
        if place < 5:
            arrow(axes, (x + 14, 32.5), (x + 17.2, 32.5))
    note(axes, 0, 42, "amber: written to the checkpoint", AMBER, ha="left")
    box(axes, 0, 10, 12.5, 11, "a crash\nhere", edge=RED, fill=PALE_RED, size=SMALL)
    note(axes, 0, 6, "batch 7 is put together anew", RED, ha="left")
    said = (
        "a crash anywhere here: batch 7 runs again with the same rows,\n"
        "the same watermark and the same state; the sink knows\nthe number 7 and takes its rows once"
    )
    box(axes, 16.5, 10, 67, 11, said, edge=RED, fill=PALE_RED, size=SMALL)
    box(axes, 87, 10, 13, 11, "a crash\nhere", edge=RED, fill=PALE_RED, size=SMALL)
    note(axes, 100, 6, "on with batch 8", RED, ha="right")
    for x in (14.2, 85.2):
        axes.plot((x + 0.4, x + 0.4), (8.5, 26), color=RED, linewidth=1.2, linestyle=":")
    save(figure, name)


def draw_state(name: str) -> None:
    """Draw the head and the segments of a window over three batches."""
    figure, axes = diagram("State of one bucket: the head is rewritten, segments are written once", high=40)
    alive = {7: (1, 2, 3), 8: (2, 3, 4), 9: (3, 4, 5)}
    for place, (batch, segments) in enumerate(alive.items()):
        y = 27 - 11.5 * place
        note(axes, 0, y + 4, f"batch {batch}", INK, ha="left")
        box(axes, 13, y, 12, 8, "head", edge=AMBER, fill=PALE_AMBER, size=SMALL)
        for segment in range(1, 6):
            x = 16 + 14 * segment
            new, gone = segment == segments[-1], segment < segments[0]
            if segment > segments[-1] or segment < segments[0] - 1:
                continue
            edge, fill = (TEAL, PALE_TEAL) if new else (GREY, "white") if gone else (BLUE, PALE_BLUE)
            text = f"segment {segment}" if not gone else "dropped"
            box(axes, x, y, 12.5, 8, text, edge=edge, fill=fill, size=SMALL)
    note(axes, 13, 0.8, "amber: rewritten · teal: written · blue: left as it is · white: deleted", FAINT, ha="left")
    save(figure, name)


PICTURES: dict[str, Callable[[str], None]] = {"plans": draw_plans, "batch": draw_batch, "state": draw_state}
