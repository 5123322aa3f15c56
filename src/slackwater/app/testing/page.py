"""A page of cases: Markdown with `sql` blocks that declare streams and `example` blocks that are cases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from slackwater.algebra.catalog import Catalog, Script
from slackwater.app.load import read_text, variables
from slackwater.app.testing.tables import Paragraph
from slackwater.errors import InputError, Place
from slackwater.lang import parse_script

FENCE = re.compile(r"^( {0,3})(`{3,}|~{3,})\s*([\w-]*)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$")
QUERIES = re.compile(r"^Queries:.*\.sql\)")
LINK = re.compile(r"\[[^\]]*\]\(<?([^)>]+\.sql)>?\)")
EXAMPLE = "example"


@dataclass(frozen=True, slots=True)
class FencedBlock:
    """A fenced block of a page: the word after its fence, the heading above it, and its lines."""

    word: str
    title: str
    body: Paragraph


@dataclass(frozen=True, slots=True)
class Page:
    """The declarations of a page, and the blocks that hold its cases."""

    path: Path
    text: str
    declared: Script
    blocks: tuple[FencedBlock, ...]

    @property
    def catalog(self) -> Catalog:
        return self.declared.catalog


def load_page(path: Path, settings: Iterable[str] = ()) -> Page:
    """Return the page in a file; `settings` are NAME=value and fill `${NAME}`, the environment fills the rest."""
    return read_page(read_text(path), path, variables(settings))


def read_page(text: str, path: Path, filling: Mapping[str, str] | None = None, files: Iterable[Path] = ()) -> Page:
    """Return the page that a text holds. Links are relative to `path`; `files` are further SQL files."""
    lines = text.split("\n")
    blocks = list(_blocks(lines, path.name))
    cases = [each for each in blocks if each.word == EXAMPLE]
    if not cases:
        raise InputError(
            "SW-470",
            f"there is no case in {path.name}",
            expected="a block that begins with ```example",
            hint="docs/testing.md shows a page of cases",
        )
    linked = [path.parent / found for line in _outside(lines, blocks) for found in LINK.findall(line)]
    own = [each for each in blocks if each.word == "sql"]
    declared = _declared(own, path.name, [*files, *linked], filling or {})
    return Page(path, text, declared, tuple(_entitled(cases)))


def _declared(blocks: list[FencedBlock], name: str, files: list[Path], filling: Mapping[str, str]) -> Script:
    """Return the declarations of the files that a page names, followed by the page's own blocks."""
    declared = Script()
    for each in files:
        declared = _together(declared, parse_script(read_text(each), each.name, filling, declared.catalog))
    if not blocks:
        return declared
    # Blank lines replace the rest of the page, so that errors name lines of the page.
    lines = [""] * (blocks[-1].body.first + len(blocks[-1].body.lines))
    for block in blocks:
        lines[block.body.first - 1 : block.body.first - 1 + len(block.body.lines)] = block.body.lines
    return _together(declared, parse_script("\n".join(lines), name, filling, declared.catalog))


def _together(one: Script, two: Script) -> Script:
    return Script(
        one.streams + two.streams,
        one.views + two.views,
        one.sinks + two.sinks,
        one.pipelines + two.pipelines,
        settings={**one.settings, **two.settings},
    )


def _blocks(lines: list[str], file: str) -> Iterator[FencedBlock]:
    """Return every fenced block of a page."""
    title, at = "", 0
    while at < len(lines):
        if found := HEADING.match(lines[at]):
            title = found[1]
        if not (fence := FENCE.match(lines[at])):
            at += 1
            continue
        ending = re.compile(rf"^ {{0,3}}{re.escape(fence[2][0])}{{{len(fence[2])},}}\s*$")
        end = next((number for number in range(at + 1, len(lines)) if ending.match(lines[number])), None)
        if end is None:
            raise InputError(
                "SW-476",
                "a block is not closed",
                expected=f"a line with {fence[2]} after it",
                hint="close the block",
                place=Place(at + 1, 1, lines[at], len(lines[at]), file),
            )
        yield FencedBlock(fence[3].lower(), title, Paragraph(at + 2, tuple(lines[at + 1 : end]), file))
        at = end + 1


def _outside(lines: list[str], blocks: Iterable[FencedBlock]) -> Iterator[str]:
    """Return the lines outside of blocks that name files of queries."""
    inside = {number for each in blocks for number in range(each.body.first, each.body.first + len(each.body.lines))}
    return (line for number, line in enumerate(lines, start=1) if QUERIES.match(line) and number not in inside)


def _entitled(blocks: Iterable[FencedBlock]) -> Iterator[FencedBlock]:
    """Return the blocks with a title each. Several blocks under one heading are numbered."""
    seen: dict[str, int] = {}
    for each in blocks:
        title = each.title or f"line {each.body.first - 1}"
        seen[title] = seen.get(title, 0) + 1
        yield FencedBlock(each.word, title if seen[title] == 1 else f"{title} ({seen[title]})", each.body)
