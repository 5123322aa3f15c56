"""Parts of the pages as HTML. Everything that comes from a run is escaped: names and rows are foreign text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any
from urllib.parse import urlencode

from slackwater.app.monitor.board import Board, Followed, Level, missed_windows
from slackwater.app.monitor.history import spark_line
from slackwater.app.monitor.words import amount, megabytes, percent, seconds

HEADINGS = (
    "Pipeline", "State", "Rows/s", "Late of allowed", "Late, last minute", "Lost", "Hold", "Behind", "Batch", "Remarks",
)  # fmt: skip
NUMBERS = {"Rows/s", "Lost", "Hold", "Behind", "Batch"}
COLUMNS_SHOWN = 8
"""The most columns of an answer that are shown. Larger: the table needs scrolling."""


def overview(board: Board, theme: str) -> str:
    """Return the table of all pipelines, those with problems first."""
    now = board.clock()
    if not board.pipelines:
        return '<div class="empty">No pipeline has reported a batch yet.</div>'
    order = [Level.BROKEN, Level.WARNING, Level.GOOD]
    followed = sorted(board.pipelines.values(), key=lambda each: (order.index(each.level(now)), each.name))
    head = "".join(f'<th class="{"n" if each in NUMBERS else ""}">{each}</th>' for each in HEADINGS)
    rows = "".join(_row(each, now, theme) for each in followed)
    return (
        f'<div class="scroll"><table id="pipelines"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _row(followed: Followed, now: float, theme: str) -> str:
    level = followed.level(now)
    kind = "idle" if level is Level.GOOD and followed.state != "running" else level.value
    why = "; ".join(text for _, text in followed.troubles(now))
    link = f"pipeline?{urlencode({'name': followed.name, 'theme': theme})}"
    cells = [
        f'<td class="name"><span class="dot"></span><a href="{escape(link)}">{escape(followed.name)}</a></td>',
        f'<td class="m">{escape(followed.state)}</td>',
        *(_figures(followed) if followed.record else ['<td class="m" colspan="7">no batch yet</td>']),
        f'<td class="why">{escape(why)}</td>',
    ]
    return f'<tr class="{kind}" data-pipeline="{escape(followed.name)}">{"".join(cells)}</tr>'


def _figures(followed: Followed) -> list[str]:
    history, record = followed.history, followed.record
    return [
        f'<td class="n" data-field="rate">{amount(history.rate("rows_in") if followed.state == "running" else 0)}</td>',
        f'<td data-field="late">{late_bar(followed)}</td>',
        f"<td>{sparkline(history.columns['ratio_minute'], followed.allowed)}</td>",
        f'<td class="n" data-field="lost">{_lost(followed)}</td>',
        f'<td class="n">{seconds(record.get("hold", {}).get("mean", 0) / 1_000)}</td>',
        f'<td class="n">{"closed" if followed.closed else seconds(followed.behind)}</td>',
        f'<td class="n">{seconds(record.get("seconds", 0))}</td>',
    ]


def _lost(followed: Followed) -> str:
    """Return the number of late rows that missed a window, or a dash if the run does not count them."""
    return amount(followed.history.total("lost")) if "lost" in followed.record else "–"


def late_bar(followed: Followed) -> str:
    """Return the share of late rows as a bar, with a mark at the query's bound."""
    ratio, allowed = followed.ratio, followed.allowed
    if allowed is None:
        return f'{percent(ratio)} <span class="m s">no bound</span>'
    full = max(allowed * 1.5, ratio * 1.05, 1e-9)
    over = any(level is Level.BROKEN for level, _ in followed.troubles(0))
    bar = f'<i class="{"over" if over else ""}" style="width:{100 * ratio / full:.1f}%"></i>'
    bound = f'<b style="left:{100 * allowed / full:.1f}%"></b>'
    return f'<span class="bar">{bar}{bound}</span>{percent(ratio)} <span class="m s">of {percent(allowed)}</span>'


def sparkline(values: Sequence[float], allowed: float | None, width: int = 110, height: int = 22) -> str:
    """Return a small line chart of the late share, with the bound as a dashed line."""
    points = spark_line(values[-200:], 50)
    if len(points) < 2:
        return ""
    top = max(*points, (allowed or 0) * 1.2, 1e-9)
    step = (width - 2) / (len(points) - 1)
    path = " ".join(
        f"{1 + place * step:.1f},{height - 2 - (height - 4) * value / top:.1f}" for place, value in enumerate(points)
    )
    bound = "" if allowed is None else _bound(height - 2 - (height - 4) * allowed / top, width)
    line = f'<polyline points="{path}" fill="none" stroke="var(--sw-blue)" stroke-width="1.4"/>'
    return f'<svg class="spark" width="{width}" height="{height}">{bound}{line}</svg>'


def _bound(y: float, width: int) -> str:
    return (
        f'<line x1="0" x2="{width}" y1="{y:.1f}" y2="{y:.1f}" stroke="var(--sw-muted)" stroke-dasharray="3 3" '
        'stroke-width="1"/>'
    )


def notes(followed: Followed, now: float) -> str:
    """Return the problems of a pipeline, one line each."""
    return "".join(f'<div class="note {level.value}">{escape(text)}</div>' for level, text in followed.troubles(now))


def holds(followed: Followed) -> str:
    """Return for each stream a line that says what holds its punctuation where it is."""
    said = [(each["stream"], each["holds"]) for each in followed.record.get("streams", ()) if each.get("holds")]
    return "".join(f'<div class="m s holds">{escape(stream)}: {escape(sentence)}</div>' for stream, sentence in said)


def tiles(followed: Followed) -> str:
    """Return the most important figures of a pipeline."""
    history, record = followed.history, followed.record
    allowed = followed.allowed
    hold = record.get("hold", {})
    broken = "broken" if any(level is Level.BROKEN for level, _ in followed.troubles(0)) else ""
    bound = f"of {percent(allowed)}" if allowed is not None else ""
    figures = [
        ("Rows in", amount(history.total("rows_in")), f"{amount(history.rate('rows_in'))}/s", "", "rows_in"),
        ("Rows out", amount(history.total("rows_out")), f"{amount(history.rate('rows_out'))}/s", "", "rows_out"),
        ("Late share", percent(followed.ratio), bound, broken, "ratio"),
        ("Late rows", amount(history.total("late")), f"{_lost(followed)} lost", "", "late"),
        ("Hold, mean", seconds(hold.get("mean", 0) / 1_000), f"p99 {seconds(hold.get('p99', 0) / 1_000)}", "", "hold"),
        (
            "Behind the clock",
            "closed" if followed.closed else seconds(followed.behind),
            "the punctuation",
            "",
            "behind",
        ),
        ("Batch", seconds(record.get("seconds", 0)), f"no. {record.get('batch', 0):,}", "", "batch"),
        ("State", megabytes(record.get("state_bytes", 0)), f"{amount(record.get('held', 0))} held", "", "state"),
    ]
    return '<div class="tiles">' + "".join(_tile(*each) for each in figures) + "</div>"


def _tile(name: str, value: str, more: str, kind: str, field: str) -> str:
    return (
        f'<div class="tile {kind}"><div class="k">{name}</div>'
        f'<div class="v"><span data-field="{field}">{value}</span> <small>{more}</small></div></div>'
    )


def answers(followed: Followed) -> str:
    """Return the latest result rows as a table, newest first."""
    rows = list(followed.answers)[::-1]
    if not rows:
        return '<div class="empty">No answer yet.</div>'
    columns = list(rows[0])[:COLUMNS_SHOWN]
    return _table(columns, ([_value(row.get(name)) for name in columns] for row in rows))


def late_rows(followed: Followed) -> str:
    """Return a table of the latest late rows: how late each was, and which windows it missed."""
    if not followed.late_rows:
        return '<div class="empty">No late row yet.</div>'
    windows = followed.about.get("windows", {})
    rows = (_late_row(each, windows) for each in list(followed.late_rows)[::-1])
    return _table(["Stream", "Event time", "Delay", "Waited for", "Too late by", "Windows missed"], rows)


def _late_row(row: Mapping[str, Any], windows: Mapping[str, Any]) -> list[str]:
    event, arrival, against = row["event"], row["arrival"], row["against"]
    waited = max(0, arrival - against)
    return [
        escape(str(row["stream"])), clock_time(event), seconds((arrival - event) / 1_000),
        seconds(waited / 1_000), seconds((against - event) / 1_000),
        _missed(event, against, windows.get(row["stream"], ())),
    ]  # fmt: skip


def _missed(event: int, against: int, windows: Iterable[Sequence[int]]) -> str:
    """Return the missed windows of the first time window over the stream."""
    for length, slide in windows:
        count, _, end = missed_windows(event, against, length, slide)
        if not count:
            return "none"
        return f"{count} of {-(-length // slide)}, the last to {clock_time(end)[:-3]}"
    return '<span class="m">no time window</span>'


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(str(each))}</th>" for each in columns)
    body = "".join("<tr>" + "".join(f'<td class="s">{each}</td>' for each in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _value(value: object) -> str:
    text = f"{value:,.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return escape(text if len(text) <= 40 else text[:39] + "…")


def clock_time(milliseconds: int) -> str:
    """Return the time of day in UTC, with hundredths of a second."""
    try:
        return f"{datetime.fromtimestamp(milliseconds / 1_000, UTC):%H:%M:%S.%f}"[:-4]
    except (OverflowError, OSError, ValueError):
        return str(milliseconds)
