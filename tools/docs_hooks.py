"""Hooks of the site: the README as the first page, and links to files that are not pages as plain names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"\[([^\]]+)\]\((?![a-z]+:|#)([^)#\s]+)(#[\w-]+)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the README as index.md: its links start at the root of the project, those of pages in docs/."""
    text = (ROOT / "README.md").read_text().replace("](docs/design/)", "](docs/design/algebra.md)")
    files.append(File.generated(config, "index.md", content=text.replace("](docs/", "](")))
    return files


def on_page_markdown(markdown: str, page: Any, files: Files, **_: Any) -> str:
    """Leave the name of a link whose file exists in the project and is no page of the site; other links are checked."""
    folder = ROOT / "docs" / Path(page.file.src_uri).parent

    def plain(found: re.Match[str]) -> str:
        target = (ROOT if page.file.src_uri == "index.md" else folder) / found[2]
        here = target.resolve()
        is_page = here.is_relative_to(ROOT / "docs") and here.is_file()
        return found[0] if is_page or not here.exists() else found[1].strip("`").join("``")

    return LINK.sub(plain, markdown)
