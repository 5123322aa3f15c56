"""The wheel in an environment that has nothing but what its metadata ask for, in another folder than the sources."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.docs.blocks import ROOT, blocks

PROGRAM = """
from slackwater.spark.session import local_session
spark = local_session(master="local[2]")
{readme}
print("rows", sw.sql("SELECT COUNT(*) AS n FROM T [RANGE 1 minute SLIDE 1 minute]",
                     T=spark.sql("SELECT 1 AS a, TIMESTAMP '2026-01-01' AS ts")).collect())
"""


def needed(of: Distribution, seen: set[str]) -> Iterator[Distribution]:
    """Yield the installed distributions that a distribution requires without extras."""
    for wanted in map(Requirement, of.requires or ()):
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
            continue
        found = distribution(wanted.name)
        assert found.version in wanted.specifier, wanted
        if found.name.lower() not in seen:
            seen.add(found.name.lower())
            yield found
            yield from needed(found, seen)


def link_needed(folder: Path) -> set[str]:
    """Link the installed requirements of the wheel into its folder, and return their names."""
    (wheel,) = Distribution.discover(name="slackwater", path=[str(folder)])
    names: set[str] = set()
    for each in needed(wheel, names):
        for top in {file.parts[0] for file in each.files or ()} - {"..", "bin", "__pycache__"}:
            if not (folder / top).exists():
                (folder / top).symlink_to(Path(str(each.locate_file(top))))
    return names


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_examples_of_the_readme_run_from_a_wheel(tmp_path: Path):
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(tmp_path)]
    subprocess.run([*build, str(ROOT)], check=True, cwd=tmp_path)
    (wheel,) = tmp_path.glob("slackwater-*.whl")
    venv.create(tmp_path / "env", symlinks=True)
    python = tmp_path / "env" / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", str(wheel)]
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYSPARK"))}
    subprocess.run(install, check=True, env=env)
    place = sysconfig.get_path("purelib", vars={"base": str(tmp_path / "env")})
    names = link_needed(Path(place))
    assert not names & {"bokeh", "matplotlib", "psycopg", "confluent-kafka"}, "extras that the core asks for"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    readme = "\n".join(block.text for block in blocks("python") if block.file.name == "README.md")
    shown = _ran([python, "-W", "ignore", "-c", PROGRAM.format(readme=readme)], elsewhere, env)
    assert "rows [Row(n=1)]" in shown

    command = tmp_path / "env" / "bin" / "slackwater"
    assert _ran([command, "--version"], elsewhere, env).startswith("slackwater ")
    assert "Disorder" in _ran([command, "explain", ROOT / "examples" / "traffic.sql"], elsewhere, env)
    assert "queries.sql" in _ran([command, "init", "tides"], elsewhere, env)
    assert "CREATE STREAM" in _ran([command, "demo", "clicks", "--show"], elsewhere, env)
    told = _ran([command, "doctor", "--master", "local[1]", "--checkpoint", elsewhere / "check"], elsewhere, env)
    assert f"'{elsewhere / 'check'}' can be written" in told
    assert str(ROOT / "src") not in told
    assert "can import the package" in told


def _ran(command: list[object], folder: Path, env: dict[str, str]) -> str:
    words = [str(each) for each in command]
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
