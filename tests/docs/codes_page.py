"""docs/codes.md, every error by its code, from the source: `python -m tests.docs.codes_page` writes it anew."""
# ruff: noqa: E501 (it holds the text of a page)

from __future__ import annotations

import ast
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "slackwater"
PAGE = ROOT / "docs" / "codes.md"
CODE = re.compile(r"SW-\d{3}")
PARTS = {
    "1": "The text of a statement",
    "2": "What a statement means",
    "3": "Plans that cannot be run or printed",
    "4": "Files, options and commands",
    "5": "A query that runs",
}
INTRODUCTION = """\
# Errors by code

Every code with what is said and what to do. `...` stands for what differs: a name, a number, a place. Codes do not change from one
version to the next. [Errors](errors.md) shows the most common mistakes with the query that causes them.
"""


@dataclass(frozen=True, order=True, slots=True)
class Said:
    """One message of a code, and what to do about it."""

    message: str
    hint: str


def words_of(node: ast.expr | None) -> str:
    """Return a text of the source with dots for what is put into it; nothing if it is no text."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(words_of(each) if isinstance(each, ast.Constant) else "..." for each in values)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return words_of(left) + words_of(right)
        case ast.IfExp(body=body, orelse=other):
            return " / ".join(each for each in (words_of(body), words_of(other)) if each)
    return ""


def found_codes() -> dict[str, set[Said]]:
    """Return what the source says with each code, where it says it in one place."""
    found: dict[str, set[Said]] = defaultdict(set)
    for file in sorted(SOURCE.rglob("*.py")):
        for call in ast.walk(ast.parse(file.read_text())):
            if not isinstance(call, ast.Call):
                continue
            for place, each in enumerate(call.args[:2]):
                if CODE.fullmatch(words_of(each)):
                    message = words_of(call.args[place + 1]) if len(call.args) > place + 1 else ""
                    found[words_of(each)].add(Said(message, _what_to_do(call)))
    return found


def _what_to_do(call: ast.Call) -> str:
    """Return the hint of an error, or what it expected. A computed hint gets a general sentence."""
    said = {word.arg: words_of(word.value) for word in call.keywords}
    if "hint" in said:
        return said["hint"] or "the message names what is near, or lists what is valid"
    return f"expected: {said['expected']}" if said.get("expected") else ""


def write_page() -> str:
    """Return the whole page."""
    found = found_codes()
    lines = [INTRODUCTION]
    for digit, title in PARTS.items():
        lines += [f"## SW-{digit}xx: {title}\n", "| code | what is said | what to do |", "|---|---|---|"]
        for code in sorted(each for each in found if each[3] == digit):
            told = [each for each in sorted(found[code]) if each.message] or [Said("", "")]
            for number, each in enumerate(told):
                lines.append(f"| {code if not number else ''} | {_cell(each.message)} | {_cell(each.hint)} |")
        lines.append("")
    return "\n".join(lines)


def _cell(text: str) -> str:
    plain = " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
    return re.sub(r"([*_`\[\]()])", r"\\\1", plain)


if __name__ == "__main__":
    PAGE.write_text(write_page())
