"""The files of the package that `slackwater init` writes and `slackwater demo` runs."""

from __future__ import annotations

import os
import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from slackwater.errors import InputError

RESOURCES = files("slackwater.app") / "resources"

OLD = 1_600_000_000
"""Seconds since 1970: the modification time of data file 0; file n is n seconds newer. Spark reads old files first."""


def write_project(folder: Path) -> list[Path]:
    """Write a small project into a folder that does not exist or is empty; return its files."""
    folder = Path(os.path.normpath(folder))  # `new/..` is this folder, though `new` does not exist yet
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            "SW-465",
            f"'{folder}' is not empty" if folder.is_dir() else f"'{folder}' is a file",
            expected="a folder that is empty, or a name that is free",
            hint="choose another name",
        )
    return [_write(source, folder / name, folder.resolve().name) for name, source in _tree(RESOURCES / "project")]


def _tree(folder: Traversable, above: str = "") -> list[tuple[str, Traversable]]:
    """Return every file below a folder with its relative path, sorted by name."""
    found: list[tuple[str, Traversable]] = []
    for each in sorted(folder.iterdir(), key=lambda each: each.name):
        found += _tree(each, f"{above}{each.name}/") if each.is_dir() else [(above + each.name, each)]
    return found


def _write(source: Traversable, target: Path, name: str) -> Path:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(source.read_text(encoding="utf-8").replace("# NAME\n", f"# {name}\n"), encoding="utf-8")
    except OSError as cause:
        raise InputError(
            "SW-497", f"'{target}' cannot be written: {cause.strerror}", hint="choose another place"
        ) from cause
    if number := re.search(r"(\d+)\.json$", target.name):
        os.utime(target, (OLD + int(number[1]),) * 2)
    return target


def demo_text(name: str) -> str:
    """Return the SQL of a demo."""
    return (RESOURCES / "demos" / f"{name}.sql").read_text(encoding="utf-8")


def demo_sentences(name: str) -> list[str]:
    """Return the three sentences at the head of a demo: what it computes, and what to look at."""
    return [line.removeprefix("-- ") for line in demo_text(name).split("\n\n", 1)[0].splitlines()]
