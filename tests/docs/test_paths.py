"""What the documents for contributors name is there: files, folders and make targets."""

import re
import subprocess

import pytest
from tests.docs.blocks import ROOT

PAGES = ("CONTRIBUTING.md", "docs/architecture.md")
NAMED = re.compile(r"`((?:[\w.]+/)+[\w.]*)`")
"""A path in backquotes; what a reader fills in is in capitals."""


@pytest.mark.parametrize("page", PAGES)
def test_every_path_is_there(page: str):
    named = [path for path in NAMED.findall((ROOT / page).read_text()) if not re.search(r"\b[A-Z]+\b", path)]
    missing = [path for path in named if not any((ROOT / base / path).exists() for base in ("", "src/slackwater"))]
    assert len(named) > 2 and missing == []


@pytest.mark.parametrize("page", PAGES)
def test_every_target_is_one_of_make(page: str):
    targets = set(re.findall(r"`make ([a-z-]+)", (ROOT / page).read_text()))
    done = subprocess.run(
        ["make", "--dry-run", *sorted(targets)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert targets and done.returncode == 0, done.stderr
