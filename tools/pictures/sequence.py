"""Pictures of the sequence of rows and of rewriting."""

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
    TEAL,
    arrow,
    bar,
    box,
    diagram,
    lanes,
    note,
    save,
)

from slackwater.app.plans.rewrites import document
from slackwater.lang import parse_script

ARRIVALS = ((1, "a"), (4, "b"), (2, "c"), (6, "d"), (5, "e"), (9, "f"), (7, "g"), (3, "h"))
"""Event time and name of rows, in the order of their arrival; the watermark has passed 5 when h comes."""

NESTED = """
CREATE STREAM Pulse (Id INT, Timestamp TIMESTAMP) USING json OPTIONS (path 'p') TIMESTAMP BY Timestamp;
CREATE SINK a USING console;
INSERT INTO a SELECT Id, AVG(n) AS mean
FROM (SELECT Id, COUNT(*) AS n FROM Pulse [RANGE 60 seconds, FREQUENCY 1 TUPLE PARTITIONED BY Id]
      WHERE Id > 10 GROUP BY Id) AS P [RANGE 20 TUPLES, FREQUENCY 10 TUPLES PARTITIONED BY Id]
GROUP BY Id;
"""


def draw_sequence(name: str) -> None:
    """Draw rows in the order of their arrival above the same rows in sequence order."""
    figure, axes = diagram("From the order of arrival to the sequence", high=36)
    late = ARRIVALS[-1]
    sequence = sorted(each for each in ARRIVALS if each is not late)
    for place, row in enumerate(ARRIVALS):
        x = 14 + 10.5 * place
        is_late = row is late
        box(axes, x, 23, 8, 7, f"{row[1]}   t={row[0]}", edge=RED if is_late else BLUE,
            fill="white" if is_late else PALE_BLUE, size=SMALL)  # fmt: skip
        if not is_late:
            under = 14 + 10.5 * sequence.index(row)
            arrow(axes, (x + 4, 23), (under + 4, 13), GREY)
    for place, row in enumerate(sequence):
        x = 14 + 10.5 * place
        box(axes, x, 6, 8, 7, f"{row[1]}   t={row[0]}", edge=TEAL, fill=PALE_TEAL, size=SMALL)
        note(axes, x + 4, 3, f"place {place + 1}", FAINT)
    note(axes, 0, 26.5, "arrival", INK, ha="left")
    note(axes, 0, 9.5, "sequence", INK, ha="left")
    note(axes, 92.5, 14.5, "lost: its\nplace is\ngone", RED)
    axes.plot((91.5, 91.5), (18.8, 23), color=RED, linewidth=1.2, linestyle=":")
    save(figure, name)


def draw_frequency(name: str) -> None:
    """Draw RANGE 4 TUPLES with and without FREQUENCY 6 TUPLES: which windows are computed, which rows are kept."""
    names = {3.0: "rows", 2.0: "RANGE 4", 1.0: "RANGE 4,\nFREQUENCY 6"}
    figure, axes = lanes("RANGE 4 TUPLES: at every row, and at every 6th row", names, 19, 3.2)
    for row in range(1, 19):
        used = (row - 1) % 6 >= 2
        axes.plot(row, 3, "o", color=TEAL if used else GREY, markersize=13)
        axes.text(row, 3, f"{row}", ha="center", va="center", fontsize=8, color="white" if used else INK)
    for last in range(4, 19):
        y = 2.3 - 0.2 * ((last - 4) % 4)
        axes.plot((last - 3.3, last + 0.3), (y, y), color=GREY, linewidth=4, solid_capstyle="butt")
    for last in (6, 12, 18):
        bar(axes, last - 3.4, last + 0.4, 1, PALE_AMBER, f"rows {last - 3} to {last}", 0.5)
    note(axes, 9.5, 0.35, "3 answers instead of 18; the grey rows of the first lane are counted and not kept", INK)
    axes.set(xlabel="", xticks=(), ylim=(0.1, 3.6), xlim=(0.2, 19))
    axes.spines["bottom"].set_visible(False)
    save(figure, name)


def draw_rewrite(name: str) -> None:
    """Draw a nested query before and after rewriting, with the estimates that EXPLAIN REWRITES prints."""
    found = document(parse_script(NESTED).pipelines[0].plan)["estimate"]
    figure, axes = diagram("The same query, before and after two rules", high=62)
    before = ("AVG by Id", "Frequency every 10 rows of an Id", "Window: last 20 rows", "COUNT by Id",
              "Select Id > 10", "Window: last 60 s of an Id", "Pulse")  # fmt: skip
    after = ("AVG by Id", "Window: last 20 rows,\nat every 10th row of an Id", None, "COUNT by Id",
             "Window: last 60 s of an Id", "Select Id > 10", "Pulse")  # fmt: skip
    changed = {1: AMBER, 2: AMBER, 4: TEAL, 5: TEAL}
    pale = {AMBER: PALE_AMBER, TEAL: PALE_TEAL}
    for x, plan in ((0, before), (58, after)):
        for place, text in enumerate(plan):
            if text is None:
                continue
            joined = x > 0 and place == 1
            y = 52 - 8 * place - (8 if joined else 0)
            colour = changed.get(place, BLUE)
            box(axes, x, y, 40, 14 if joined else 6, text, edge=colour, fill=pale.get(colour, "white"), size=SMALL)
            if place:
                arrow(axes, (x + 20, y + (14 if joined else 6)), (x + 20, y + (16 if joined else 8)), FAINT)
    arrow(axes, (41, 43), (57, 43), AMBER)
    note(axes, 49, 47, "push the\nfrequency", AMBER)
    arrow(axes, (41, 19), (57, 19), TEAL)
    note(axes, 49, 23, "push the\nselection", TEAL)
    for x, when in ((20, "before"), (78, "after")):
        note(axes, x, 0.4, f"{found[when]['evaluated']:,.0f} rows evaluated per 1,000 rows in", INK)
    save(figure, name)


PICTURES: dict[str, Callable[[str], None]] = {
    "sequence": draw_sequence,
    "frequency": draw_frequency,
    "rewrite": draw_rewrite,
}
