"""`slackwater explain`, as a user calls it."""

import json
from pathlib import Path

import pytest

from slackwater import __version__

ROOT = Path(__file__).parents[2]
TRAFFIC = ROOT / "examples" / "traffic.sql"


def test_a_tree_with_the_policy_spelled_out(slackwater):
    shown = slackwater("explain", TRAFFIC)
    assert shown.returncode == 0, shown.stderr
    assert (
        "Disorder DRATIO 1% USING budget (default) IDLE 10 minutes (default) SKEW 5 minutes (default)" in shown.stdout
    )
    assert "Window RANGE 5 seconds SLIDE 1 second" in shown.stdout


def test_a_plan_as_json_is_explained_as_the_sql_is(slackwater, tmp_path: Path):
    plan = tmp_path / "plan.json"
    assert slackwater("explain", TRAFFIC, "--format", "json", "-o", plan).returncode == 0
    assert slackwater("explain", plan).stdout == slackwater("explain", TRAFFIC).stdout
    assert json.loads(plan.read_text())["streams"][0]["format"] == "generate"


@pytest.mark.parametrize(
    ("form", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("mermaid", b"flowchart"), ("dot", b"digraph")]
)
def test_other_formats(slackwater, form: str, start: bytes, tmp_path: Path):
    file = tmp_path / "plan"
    assert slackwater("explain", TRAFFIC, "--format", form, "-o", file).returncode == 0
    assert file.read_bytes().startswith(start)


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    """Return the example with extents that overlap so much that they are computed from panes."""
    file = tmp_path / "wide.sql"
    file.write_text(TRAFFIC.read_text().replace("RANGE 5 seconds", "RANGE 60 seconds"))
    return file


def test_rewrites_in_every_form(slackwater, wide: Path, tmp_path: Path):
    shown = slackwater("explain", wide, "--rewrites")
    assert shown.returncode == 0, shown.stderr
    assert all(part in shown.stdout for part in ("before", "after", "share_panes", "rows held"))
    steps = json.loads(slackwater("explain", wide, "--rewrites", "--format", "json").stdout)["fastest"]["steps"]
    assert "share_panes" in [step["rule"] for step in steps]
    drawing = tmp_path / "both.svg"
    assert slackwater("explain", wide, "--rewrites", "--format", "svg", "-o", drawing).returncode == 0
    alone = tmp_path / "one.svg"
    slackwater("explain", wide, "--format", "svg", "-o", alone)
    assert len(drawing.read_bytes()) > 1.5 * len(alone.read_bytes())


def test_the_version_is_shown_without_a_command(slackwater):
    shown = slackwater("--version")
    assert (shown.returncode, shown.stdout) == (0, f"slackwater {__version__}\n")


def test_a_variable_is_filled_by_an_option(slackwater, tmp_path: Path):
    file = tmp_path / "q.sql"
    file.write_text(TRAFFIC.read_text().replace("DRATIO 1%", "DRATIO ${LOSS}%"))
    missing = slackwater("explain", file)
    assert missing.returncode == 2
    assert "LOSS" in missing.stderr
    assert "DRATIO 3%" in slackwater("explain", file, "--set", "LOSS=3").stdout


def test_a_secret_is_not_shown(slackwater, tmp_path: Path):
    file = tmp_path / "q.sql"
    file.write_text(TRAFFIC.read_text().replace("USING console", "USING postgres OPTIONS (password '${PW}')"))
    for form in ("text", "json", "mermaid", "dot"):
        shown = slackwater("explain", file, "--set", "PW=hunter2", "--format", form)
        assert shown.returncode == 0, shown.stderr
        assert "hunter2" not in shown.stdout


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("absent.sql", None, "SW-401"),
        ("binary.sql", b"\xff\xfe\x00", "SW-402"),
        ("plan.json", b"{", "SW-404"),
        ("plan.json", b"[1]", "SW-126"),
        ("streams.sql", b"CREATE STREAM S (t TIMESTAMP) USING rate TIMESTAMP BY t;", "SW-405"),
    ],
)
def test_errors_have_a_code_and_no_traceback(slackwater, name: str, content: bytes | None, code: str, tmp_path: Path):
    file = tmp_path / name
    if content is not None:
        file.write_bytes(content)
    failed = slackwater("explain", file)
    assert (failed.returncode, failed.stdout) == (2, "")
    assert failed.stderr.startswith(f"{code}: ")
    assert "Traceback" not in failed.stderr


def test_a_setting_without_a_value_is_refused(slackwater):
    assert slackwater("explain", TRAFFIC, "--set", "LOSS").stderr.startswith("SW-403")


def test_a_physical_plan_has_no_picture(slackwater):
    shown = slackwater("explain", TRAFFIC, "--physical", "--format", "svg")
    assert shown.returncode != 0
    assert "SW-417" in shown.stderr


def test_an_explain_statement_shows_what_it_asks_for(slackwater, wide: Path, tmp_path: Path):
    file = tmp_path / "q.sql"
    text = wide.read_text()
    file.write_text(f"{text} EXPLAIN REWRITES {text[text.index('SELECT') :]}")
    own, asked = slackwater("explain", file).stdout.split("EXPLAIN 1")
    assert "share_panes" not in own
    assert all(part in asked for part in ("before", "after", "1. ", "share_panes"))
    document = json.loads(slackwater("explain", file, "--format", "json").stdout)
    assert "share_panes" in [step["rule"] for step in document["explains"][0]["steps"]]
    assert [each["name"] for each in document["pipelines"]] == ["fastest"]
    assert slackwater("explain", file, "--format", "dot").stdout.count("shared panes") == 1
    file.write_text(file.read_text().replace("EXPLAIN REWRITES", "EXPLAIN PHYSICAL"))
    assert slackwater("explain", file, "--format", "svg").stderr.startswith("SW-417")


def test_bytes_are_not_written_to_a_terminal(slackwater, monkeypatch, tmp_path: Path):
    file = tmp_path / "plan.png"
    assert slackwater("explain", TRAFFIC, "--format", "png").returncode == 0
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    shown = slackwater("explain", TRAFFIC, "--format", "png")
    assert (shown.returncode, shown.stdout) == (2, "")
    assert shown.stderr.startswith("SW-419")
    assert slackwater("explain", TRAFFIC, "--format", "png", "-o", file).returncode == 0


def test_a_setting_of_sparks_is_part_of_the_plan(slackwater):
    shown = slackwater("explain", TRAFFIC, "--format", "json", "--conf", "spark.ui.enabled=true")
    assert json.loads(shown.stdout)["settings"]["spark.ui.enabled"] == "true"
