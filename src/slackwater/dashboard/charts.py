"""The charts of a pipeline's page: figures over one source of points, which the page replaces regularly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bokeh.core.properties import value
from bokeh.models import (
    Band,
    ColumnDataSource,
    DatetimeTickFormatter,
    HoverTool,
    Legend,
    LegendItem,
    NumeralTickFormatter,
    Segment,
)
from bokeh.plotting import figure

from slackwater.app.monitor.board import Followed
from slackwater.app.monitor.delays import lower, upper
from slackwater.app.monitor.history import PARTS
from slackwater.app.monitor.words import seconds
from slackwater.dashboard.style import Theme

HEIGHT = 230
"""The height of a chart in pixels."""
TITLES = {
    "addBatch": "process rows", "queryPlanning": "plan", "walCommit": "log offsets", "commitOffsets": "commit",
    "latestOffset": "ask sources", "getBatch": "get batch", "other": "other",
}  # fmt: skip
"""Spark's names for the parts of a batch, and their titles in the chart."""


def points(followed: Followed) -> dict[str, list[float]]:
    """Return the columns of all charts over time."""
    history = followed.history
    columns: dict[str, list[float]] = dict(history.columns)
    columns["rate_in"], columns["rate_out"] = history.rates("rows_in"), history.rates("rows_out")
    columns["megabytes"] = [each / 1e6 for each in history.columns["state_bytes"]]
    columns["allowed"] = [float("nan") if followed.allowed is None else followed.allowed] * len(history)
    columns["clock"] = [0.0] * len(history)
    columns["newest_at"] = [-each for each in history.columns["newest"]]
    columns["punctuation_at"] = [-each for each in history.columns["lag"]]
    top = [0.0] * len(history)
    for name in PARTS:
        columns[f"{name}_low"] = top
        top = [before + more for before, more in zip(top, history.columns[name], strict=True)]
        columns[f"{name}_high"] = top
    return columns


def buckets(followed: Followed) -> dict[str, list[float]]:
    """Return the distribution of delays: the limits of each bucket, its share of the last minute and of all rows."""
    delays = followed.delays
    filled = [each for each, rows in delays.all.items() if rows]
    span = range(max(1, min(filled)), max(filled) + 1) if filled else range(0)
    return {
        "left": [lower(each) for each in span],
        "right": [upper(each) for each in span],
        "recent": delays.shares(delays.recent, span),
        "all": delays.shares(delays.all, span),
    }


@dataclass(frozen=True, slots=True)
class Mark:
    """A line in a chart, with the data source that moves it."""

    source: ColumnDataSource
    glyph: Segment


class Charts:
    """The figures of one page."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        nothing = Followed("")
        self.source = ColumnDataSource(points(nothing))
        self.delays = ColumnDataSource(buckets(nothing))
        self.hold, self.hold_text = self._marker(theme.blue, "solid")
        self.fixed, self.fixed_text = self._marker(theme.amber, "dashed")

    def update(self, followed: Followed) -> None:
        """Show the current state of a pipeline."""
        self.source.data = points(followed)
        self.delays.data = buckets(followed)
        if not followed.delays.all:
            return
        now, fixed = followed.behind, followed.delays.fixed_delay(followed.ratio)
        self._mark(self.hold, self.hold_text, now, f"punctuation, {seconds(now)} behind")
        self._mark(self.fixed, self.fixed_text, fixed, f"fixed delay of the same share, {seconds(fixed)}")

    def figures(self) -> list[Any]:
        """Return all figures, each with the name by which the page places it."""
        return [
            self.late(), self.times(), self.distribution(), self.holds(), self.rows(), self.batch(), self.state(),
        ]  # fmt: skip

    def late(self) -> Any:
        plot = self._plot("late", "percent")
        lines = [("since the start", "ratio", self.theme.blue), ("last minute", "ratio_minute", self.theme.teal)]
        self._lines(plot, [*lines, ("allowed (D)", "allowed", self.theme.red)], "0.00%")
        plot.renderers[2].glyph.line_dash = "dashed"
        return plot

    def times(self) -> Any:
        plot = self._plot("times", "seconds")
        band = Band(
            base="at", lower="punctuation_at", upper="newest_at", source=self.source, fill_color=self.theme.blue,
            fill_alpha=0.10, line_color=None,
        )  # fmt: skip
        plot.add_layout(band)
        lines = [
            ("clock", "clock", self.theme.muted), ("newest event time", "newest_at", self.theme.teal),
            ("punctuation", "punctuation_at", self.theme.blue),
        ]  # fmt: skip
        self._lines(plot, lines, "0.00")
        return plot

    def distribution(self) -> Any:
        plot = self._plot("delays", "percent", x="log")
        plot.quad(
            left="left", right="right", bottom=0, top="recent", source=self.delays, fill_color=self.theme.teal,
            fill_alpha=0.55, line_color=None, legend_label="last minute",
        )  # fmt: skip
        plot.step(
            "left", "all", source=self.delays, mode="after", line_color=self.theme.muted, line_width=1.3,
            legend_label="all rows",
        )  # fmt: skip
        for mark, text in ((self.hold, self.hold_text), (self.fixed, self.fixed_text)):
            line = plot.add_glyph(mark.source, mark.glyph)
            text.renderers = [line]
            plot.legend[0].items.append(text)
        self._legend_above(plot)
        return plot

    def holds(self) -> Any:
        plot = self._plot("holds", "seconds")
        lines = [
            ("mean", "hold_mean", self.theme.blue),
            ("p50", "hold_p50", self.theme.teal),
            ("p99", "hold_p99", self.theme.violet),
        ]
        self._lines(plot, lines, "0.00")
        return plot

    def rows(self) -> Any:
        plot = self._plot("rows", "number")
        self._lines(plot, [("in", "rate_in", self.theme.blue), ("out", "rate_out", self.theme.green)], "0,0")
        return plot

    def batch(self) -> Any:
        plot = self._plot("batch", "seconds")
        theme = self.theme
        colours = (theme.blue, theme.violet, theme.teal, theme.green, theme.amber, theme.red, theme.grey)
        items = []
        for name, colour in zip(PARTS, colours, strict=True):
            area = plot.varea(
                "at", f"{name}_low", f"{name}_high", source=self.source, fill_color=colour, fill_alpha=0.75
            )
            items.append(LegendItem(label=TITLES[name], renderers=[area]))
        self._hover(plot, [("batch", "seconds")], "0.00", "seconds")
        plot.add_layout(self._styled(Legend(items=items, orientation="horizontal")), "above")
        return plot

    def state(self) -> Any:
        plot = self._plot("state", "number")
        self._lines(
            plot,
            [("rows held back", "held", self.theme.blue), ("rows in Spark's state", "state_rows", self.theme.violet)],
            "0,0",
        )
        return plot

    def _lines(self, plot: Any, lines: Sequence[tuple[str, str, str]], form: str) -> None:
        for title, column, colour in lines:
            plot.line("at", column, source=self.source, color=colour, line_width=1.7, legend_label=title)
        self._hover(plot, [(title, column) for title, column, _ in lines], form, lines[-1][1])
        self._legend_above(plot)

    def _legend_above(self, plot: Any) -> None:
        plot.legend[0].orientation = "horizontal"
        plot.add_layout(self._styled(plot.legend[0]), "above")

    def _hover(self, plot: Any, shown: Sequence[tuple[str, str]], form: str, column: str) -> None:
        """Add one tooltip for all lines of a chart, at the time under the pointer."""
        carrier = plot.line("at", column, source=self.source, alpha=0)
        texts = [("time", "@at{%H:%M:%S}"), *((title, f"@{name}{{{form}}}") for title, name in shown)]
        plot.add_tools(HoverTool(renderers=[carrier], tooltips=texts, formatters={"@at": "datetime"}, mode="vline"))

    def _plot(self, name: str, unit: str, x: str = "datetime") -> Any:
        plot = figure(
            name=name, height=HEIGHT, sizing_mode="stretch_width", x_axis_type=x, toolbar_location=None,
            tools="xpan,xwheel_zoom", active_scroll=None, output_backend="canvas",
        )  # fmt: skip
        theme = self.theme
        plot.background_fill_color = plot.border_fill_color = theme.card
        plot.outline_line_color = None
        plot.min_border_right, plot.min_border_left = 12, 48
        for axis in plot.axis:
            axis.axis_line_color = axis.major_tick_line_color = theme.line
            axis.minor_tick_line_color = None
            axis.major_label_text_color, axis.major_label_text_font_size = theme.muted, "11px"
        if name != "times":
            plot.y_range.start = 0
        plot.grid.grid_line_color = theme.grid
        plot.xgrid.grid_line_color = None
        plot.yaxis.formatter = FORMATS[unit]()
        plot.xaxis.formatter = FORMATS["delay"]() if x == "log" else DatetimeTickFormatter(**TIMES)
        return plot

    def _styled(self, legend: Legend) -> Legend:
        legend.background_fill_alpha, legend.border_line_color = 0, None
        legend.label_text_color, legend.label_text_font_size = self.theme.muted, "11.5px"
        legend.padding, legend.margin, legend.spacing, legend.glyph_width = 0, 2, 14, 14
        legend.label_height = legend.glyph_height = 14
        return legend

    def _marker(self, colour: str, dash: str) -> tuple[Mark, LegendItem]:
        """Return a movable vertical line and its entry in the legend."""
        source = ColumnDataSource({"x": [], "y0": [], "y1": []})
        glyph = Segment(x0="x", x1="x", y0="y0", y1="y1", line_color=colour, line_dash=dash, line_width=1.8)
        return Mark(source, glyph), LegendItem(label=value(""))

    def _mark(self, mark: Mark, text: LegendItem, place: float, said: str) -> None:
        top = max([*self.delays.data["recent"], *self.delays.data["all"]], default=0.0) * 1.04
        mark.source.data = {"x": [place], "y0": [0.0], "y1": [top]} if place > 0 else {"x": [], "y0": [], "y1": []}
        text.label = value(said)


FORMATS = {
    "percent": lambda: NumeralTickFormatter(format="0.[00]%"),
    "seconds": lambda: NumeralTickFormatter(format="0.[00]"),
    "delay": lambda: NumeralTickFormatter(format="0.[000]"),
    "number": lambda: NumeralTickFormatter(format="0.[0]a"),
}
TIMES = {
    "milliseconds": "%H:%M:%S", "seconds": "%H:%M:%S", "minsec": "%H:%M:%S", "minutes": "%H:%M", "hourmin": "%H:%M",
    "hours": "%H:%M", "days": "%d %b",
}  # fmt: skip
