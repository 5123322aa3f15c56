"""Show a difference as text: the table, with `-` before expected rows and `+` before found rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from rich.cells import cell_len
from rich.text import Text

from slackwater.app.testing.case import Line, QueryCase
from slackwater.app.testing.cells import matches, write_cell
from slackwater.app.testing.differences import Difference, Pair
from slackwater.app.testing.tables import NAME_WIDTH, pad
from slackwater.errors import SlackwaterError

STYLES = {"-": "red", "+": "green", "^": "bold"}
LEGEND = "- expected, + found"


def report(case: QueryCase, differences: Iterable[Difference]) -> Text:
    """Return the differences of a case as text, table by table."""
    lines: list[Text] = []
    for each in differences:
        lines += [Text(_headline(each)), *_table(case, each), Text()]
    return Text("\n").join([*lines, Text(LEGEND, style="dim")])


def _headline(difference: Difference) -> str:
    if difference.reordered:
        return f"{difference.table}: the rows are right, their order is not"
    counts = Counter(_verdict(each) for each in difference.pairs if not each.equal)
    told = (f"{count:,} {'row' if count == 1 else 'rows'} {verdict}" for verdict, count in counts.items())
    return f"{difference.table}: {', '.join(told)}"


def _verdict(pair: Pair) -> str:
    if pair.expected is None:
        return "not expected"
    return "not found" if pair.found is None else "not as expected"


def _table(case: QueryCase, difference: Difference) -> Iterator[Text]:
    """Return the aligned lines of a table. A line below a pair marks the cells that differ."""
    kinds = case.outputs[difference.table]
    header = [difference.table, *difference.columns]
    written: list[tuple[str, list[str], set[int]]] = []
    for pair in difference.pairs:
        written += _written(case, kinds, difference.columns, pair)
    rows = [header, *(cells for _, cells, _ in written)]
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    widths[0] = max(NAME_WIDTH, widths[0])
    yield Text("    " + " | ".join(map(pad, header, widths)).rstrip(), style="bold")
    for sign, cells, wrong in written:
        line = " | ".join(map(pad, cells, widths)).rstrip()
        yield Text(f"  {sign} {line}", style=STYLES.get(sign, ""))
        if wrong:
            marks = [pad("^" * cell_len(cell) if at in wrong else "", widths[at]) for at, cell in enumerate(cells)]
            yield Text(f"    {'   '.join(marks)}".rstrip(), style=STYLES["^"])


def _written(
    case: QueryCase, kinds: Mapping[str, str], columns: tuple[str, ...], pair: Pair
) -> Iterator[tuple[str, list[str], set[int]]]:
    """Return the lines of a pair: one if its rows are equal, else two, and below the last the wrong cells."""

    def cells(line: Line) -> list[str]:
        return [str(line[0]), *(write_cell(line[1][name], kinds[name], case.notation) for name in columns)]

    if pair.equal and pair.expected is not None:
        yield " ", cells(pair.expected), set()
        return
    if pair.expected is not None:
        yield "-", cells(pair.expected), set()
    if pair.found is not None:
        yield "+", cells(pair.found), _wrong(pair, columns)


def _wrong(pair: Pair, columns: tuple[str, ...]) -> set[int]:
    if pair.expected is None or pair.found is None:
        return set()
    (batch, expected), (at, found) = pair.expected, pair.found
    wrong = {place for place, name in enumerate(columns, start=1) if not matches(expected[name], found[name])}
    return wrong | ({0} if batch != at else set())


def report_error(error: SlackwaterError) -> Text:
    """Return the message of an error."""
    return Text(str(error), style="red")
