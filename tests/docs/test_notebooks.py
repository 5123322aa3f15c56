"""The notebooks of examples/ run from their first cell to their last, and what they show is there."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
SHOWN = {
    "adc": {"text/html": 1, "image/png": 1},
    "adc-j": {"image/png": 1},
    "win": {"text/html": 1, "image/png": 1},
    "csql": {"text/html": 1, "image/svg+xml": 1},
    "apas": {"text/html": 2},
    "watermark": {"text/html": 2},
}
"""How many outputs of a kind each notebook has at least."""


@pytest.mark.slow
@pytest.mark.parametrize("name", SHOWN)
@pytest.mark.filterwarnings("ignore")
def test_a_notebook_runs_and_shows_its_pictures(name, tmp_path):
    notebook = nbformat.read(ROOT / "examples" / "notebooks" / f"{name}.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "outputs are not kept: they would never be current"
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    NotebookClient(
        notebook, timeout=280, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    data = [output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", ())]
    for kind, count in SHOWN[name].items():
        assert sum(kind in each for each in data) >= count
    nbformat.write(notebook, tmp_path / f"{name}.ipynb")


def test_every_notebook_is_run():
    assert {each.stem for each in (ROOT / "examples" / "notebooks").glob("*.ipynb")} == set(SHOWN)
