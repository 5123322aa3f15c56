"""Colours and style sheets of the pages, light and dark."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of a page; the same names are CSS variables (`--sw-...`)."""

    name: str
    page: str
    card: str
    line: str
    grid: str
    text: str
    muted: str
    blue: str
    green: str
    teal: str
    violet: str
    amber: str
    red: str
    grey: str

    @property
    def variables(self) -> str:
        names = ("page", "card", "line", "text", "muted", "blue", "green", "teal", "violet", "amber", "red", "grey")
        return ";".join(f"--sw-{each}:{getattr(self, each)}" for each in names)


LIGHT = Theme(
    "light", page="#f4f6f8", card="#ffffff", line="#dfe4ea", grid="#edf0f3", text="#1b2127", muted="#5d6875",
    blue="#2563c9", green="#2b8a4b", teal="#0d8582", violet="#7b45c4", amber="#b97800", red="#c9302c", grey="#a4adb8",
)  # fmt: skip
DARK = Theme(
    "dark", page="#0f1216", card="#171b21", line="#2a3038", grid="#232931", text="#e6e9ed", muted="#97a1ae",
    blue="#6ea3f7", green="#5dc281", teal="#45c1bd", violet="#b48cf0", amber="#eab04b", red="#f3726d", grey="#5c6672",
)  # fmt: skip
THEMES = {"light": LIGHT, "dark": DARK}

PAGE = """
*{box-sizing:border-box}
html,body{margin:0;background:var(--sw-page);color:var(--sw-text);
  font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
a{color:var(--sw-blue);text-decoration:none} a:hover{text-decoration:underline}
header{display:flex;align-items:center;gap:14px;padding:12px 22px;border-bottom:1px solid var(--sw-line);
  background:var(--sw-card)}
header .mark{font-weight:650;letter-spacing:.01em} header .mark a{color:var(--sw-text)}
header .here{color:var(--sw-muted)} header .right{margin-left:auto;color:var(--sw-muted);font-size:13px}
main{padding:16px 22px 28px;max-width:1720px;margin:0 auto}
.grid{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:14px;align-items:start}
.card{background:var(--sw-card);border:1px solid var(--sw-line);border-radius:6px;padding:12px 14px 8px;min-width:0}
.card.wide{grid-column:1/-1} .card.tall{grid-row:span 2} .card h2{font-size:13.5px;font-weight:620;margin:0}
.card p{margin:1px 0 4px;color:var(--sw-muted);font-size:12.5px}
@media (max-width:900px){.grid{grid-template-columns:minmax(0,1fr)}}
"""
PART = """
:host{color:var(--sw-text);font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
.bk-clearfix,:host{width:100%}
a{color:var(--sw-blue);text-decoration:none;font-weight:600} a:hover{text-decoration:underline}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th{text-align:left;font-size:12px;font-weight:560;color:var(--sw-muted);padding:7px 10px;
  border-bottom:1px solid var(--sw-line);white-space:nowrap}
td{padding:7px 10px;border-bottom:1px solid var(--sw-line);white-space:nowrap}
tr:last-child td{border-bottom:0}
td.s{padding:5px 8px} .n{text-align:right} .m{color:var(--sw-muted)} .s{font-size:12.5px}
.dot{display:inline-block;width:9px;height:9px;border-radius:50%;margin-right:7px;background:var(--sw-green)}
.warning .dot{background:var(--sw-amber)} .broken .dot{background:var(--sw-red)} .idle .dot{background:var(--sw-grey)}
.broken .why{color:var(--sw-red)} .warning .why{color:var(--sw-amber)}
.why{white-space:normal;font-size:12.5px;min-width:150px}
.name{max-width:260px;overflow:hidden;text-overflow:ellipsis}
.bar{position:relative;display:inline-block;width:110px;height:8px;border-radius:2px;background:var(--sw-line);
  vertical-align:middle;margin-right:9px}
.bar i{position:absolute;left:0;top:0;bottom:0;border-radius:2px;background:var(--sw-green)}
.bar i.over{background:var(--sw-red)} .bar b{position:absolute;top:-3px;bottom:-3px;width:2px;background:var(--sw-text)}
.tiles{display:grid;grid-template-columns:repeat(8,minmax(0,1fr));gap:10px}
.tile{background:var(--sw-card);border:1px solid var(--sw-line);border-radius:6px;padding:9px 12px;min-width:0}
.tile .k{font-size:12px;color:var(--sw-muted);white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.tile .v{font-size:19px;font-weight:600;font-variant-numeric:tabular-nums;white-space:nowrap}
.tile .v small{display:block;font-size:12px;font-weight:450;color:var(--sw-muted);min-height:17px}
.tile.broken .v{color:var(--sw-red)}
.note{border-left:3px solid var(--sw-amber);padding:5px 10px;margin:0 0 8px;background:var(--sw-card)}
.note.broken{border-color:var(--sw-red)} .holds{padding:8px 2px 0}
.scroll{overflow-x:auto} .empty{color:var(--sw-muted);padding:10px 2px}
.legend{display:flex;gap:14px;font-size:12px;color:var(--sw-muted);margin-bottom:8px}
.legend i{display:inline-block;width:9px;height:9px;border-radius:2px;margin-right:5px}
svg.spark{vertical-align:middle}
@media (max-width:1100px){.tiles{grid-template-columns:repeat(4,minmax(0,1fr))}}
"""
TEMPLATE = """
{% block title %}{{ heading|e }} · Slackwater{% endblock %}
{% block preamble %}<meta name="viewport" content="width=device-width">
<style>:root{ {{ variables }} }{{ style }}</style>
{% endblock %}
{% block contents %}
<header><span class="mark"><a href="{{ home|e }}">Slackwater</a></span>
{% if here %}<span class="here">/ {{ here|e }}</span>{% endif %}
<span class="right"><a href="{{ other_url|e }}">{{ other }} theme</a></span></header>
<main>{{ body }}</main>
{% endblock %}
"""
