"""Every command and example of the README and of docs/ is run as it is printed."""

import os
import re
import shlex
import subprocess
from dataclasses import fields
from pathlib import Path

import pytest
from tests.docs.blocks import ROOT, Block, blocks, documents

from slackwater.algebra.policies import DEFAULT_DRATIO, ratio_text
from slackwater.app.testing.page import load_page
from slackwater.app.testing.run import run_page
from slackwater.cli.main import main
from slackwater.lang import parse_script
from slackwater.spark.run.progress import accounts
from slackwater.spark.watermark.punctuate import Account
from slackwater.spark.watermark.statement import Statement


def _needs_spark(command: str) -> bool:
    return command.startswith("slackwater ") and any(word in command for word in ("--physical", " dry-run ", " doctor"))


COMMANDS = [
    pytest.param(block, line.removeprefix("$ "), id=f"{block} {line[2:40]}")
    for block in blocks("sh")
    for line in block.text.splitlines()
    if line.startswith("$ ")
]

CONNECT = ROOT / "docs" / "connect.md"
"""Its program cannot run beside a classic session: tests/spark/connect runs it."""
OWN_TESTS = ("semantics.md", "laws.md")
PAGES = list({each.file: each for each in blocks("example") if each.file.name not in OWN_TESTS}.values())


@pytest.mark.parametrize("block", blocks("sql"), ids=str)
def test_sql_is_the_language(block: Block):
    """A block may name what earlier blocks of its file declare."""
    earlier = [each.text for each in blocks("sql") if each.file == block.file and each.line < block.line]
    script = parse_script("\n".join([*earlier, block.text]), file=str(block), variables={})
    assert script.pipelines or script.streams or script.explains


@pytest.mark.parametrize(("block", "command"), [each for each in COMMANDS if _needs_spark(each.values[1])])
def test_commands_over_spark_work(block: Block, command: str, spark, monkeypatch, capfd):
    """In this process, which has a session: one of its own would take as long as all the rest."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("sys.argv", shlex.split(command, comments=True))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (None, 0), capfd.readouterr().err


@pytest.mark.parametrize("command", ["explain", "dry-run"])
def test_the_tutorial_works_in_a_folder_with_its_file_alone(command: str, spark, tmp_path, monkeypatch, capfd):
    page = ROOT / "docs" / "start.md"
    (text,) = [each.text for each in blocks("sql") if each.file == page]
    typed = f"slackwater {command} traffic.sql"
    assert typed in [line for each in blocks("text") if each.file == page for line in each.text.splitlines()]
    (tmp_path / "traffic.sql").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", typed.split())
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (None, 0), capfd.readouterr().err


@pytest.mark.spark
@pytest.mark.parametrize(("block", "command"), [each for each in COMMANDS if not _needs_spark(each.values[1])])
def test_commands_work(block: Block, command: str):
    """Run from the project's root; make targets are resolved but not run, a test run inside a test run has no end."""
    words = command.partition("  #")[0].strip()
    runs = f"make --dry-run {words.removeprefix('make ')}" if words.startswith("make ") else words
    path = f"{ROOT / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", runs],
        cwd=ROOT,
        env={**os.environ, "PATH": path, "COLUMNS": "120"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    if "watch.py" in words:
        assert re.search(r"segment.*vehicles", done.stdout), done.stdout


@pytest.mark.spark
@pytest.mark.parametrize(
    "file",
    sorted({block.file for block in blocks("python")} - {CONNECT}),
    ids=lambda f: f.name,
)
def test_python_runs(file: Path, spark):
    """The Python blocks of a file are one program, in which `spark` is a SparkSession."""
    program = "\n".join(block.text for block in blocks("python") if block.file == file)
    names: dict[str, object] = {"spark": spark}
    exec(compile(program, str(file), "exec"), names)  # noqa: S102 (our own documents)
    assert names


@pytest.mark.parametrize("block", PAGES, ids=str)
def test_cases_of_pages_pass(block: Block):
    """What a query means is on two pages that have tests of their own."""
    for outcome in run_page(load_page(block.file)):
        assert outcome.passed, outcome.report().plain


def test_files_that_documents_link_to_exist():
    for file in documents():
        for target in re.findall(r"\]\(([\w./-]+(?:\.\w+|/))(?:#[\w-]+)?\)", file.read_text()):
            assert (file.parent / target).exists(), f"{file}: {target}"


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) < 120


def test_the_readme_states_the_drop_ratio_that_is_kept_without_one():
    assert f"`DRATIO {ratio_text(DEFAULT_DRATIO)}`" in (ROOT / "README.md").read_text()


def test_every_field_of_an_account_is_explained():
    for kind in (Account, Statement):
        names = {field.name for field in fields(kind)}
        assert names <= set(re.findall(r"^    (\w+) +\w", kind.__doc__ or "", re.MULTILINE))
    assert all(name in (accounts.__doc__ or "") for name in names - {"silence"})
