"""The fenced blocks of the README and of docs/, so that each is run by a test.

A block's first word is its language; a block of `text` or of no language is output or a picture, and is not run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    file: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line}"


def documents() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(language: str) -> list[Block]:
    found = []
    for file in documents():
        text = file.read_text()
        found += [
            Block(file, text.count("\n", 0, match.start()) + 1, match[1], match[2])
            for match in FENCE.finditer(text)
            if match[1] == language
        ]
    return found
