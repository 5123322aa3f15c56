"""The site: it builds offline, and every link and anchor leads somewhere."""

import os
import re
import subprocess
import sys

import pytest
from tests.docs.blocks import ROOT

pytestmark = pytest.mark.long


def build(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", *words]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_the_site_builds_and_loads_nothing_from_elsewhere(tmp_path):
    done = build("--site-dir", str(tmp_path / "site"))
    assert done.returncode == 0, done.stderr
    pages = [page.read_text() for page in (tmp_path / "site").glob("*.html")]
    assert len(pages) > 15
    for page in pages:
        assert not re.search(r'<(script|link|img)[^>]*(src|href)="?https?://', page)


def test_pages_that_nobody_lists_and_links_into_nothing_are_found(tmp_path):
    """What makes the test above able to fail: the same settings over a folder with one bad link."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Home\n\n[nowhere](missing.md)\n")
    (tmp_path / "mkdocs.yml").write_text("site_name: x\nvalidation: {anchors: warn, omitted_files: warn}\n")
    done = build("--config-file", str(tmp_path / "mkdocs.yml"), "--site-dir", str(tmp_path / "site"))
    assert done.returncode != 0
    assert "missing.md" in done.stderr
