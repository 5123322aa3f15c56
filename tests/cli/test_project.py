"""`slackwater init` and `slackwater demo`: what they write runs, tests and explains itself."""

import subprocess

import pytest
from tests.docs.blocks import ROOT

from slackwater.app.project import demo_sentences, demo_text
from slackwater.cli.demo import Demo

DEMOS = [each.value for each in Demo]


@pytest.fixture
def project(slackwater, tmp_path, monkeypatch):
    made = slackwater("init", tmp_path / "tides")
    assert made.returncode == 0
    assert "make help" in made.stdout
    monkeypatch.chdir(tmp_path / "tides")
    return tmp_path / "tides"


def test_a_new_project_tests_and_explains_itself(slackwater, project):
    assert (project / "README.md").read_text().startswith("# tides\n")
    tested = slackwater("test", "cases.md")
    assert tested.returncode == 0
    assert "2 passed" in tested.stdout
    before = (project / "cases.md").read_text()
    assert slackwater("test", "cases.md", "--update").returncode == 0
    assert (project / "cases.md").read_text() == before
    assert "DRATIO 1%" in slackwater("explain", "queries.sql").stdout
    listed = subprocess.run(["make", "--no-print-directory", "help"], capture_output=True, text=True, check=True).stdout
    assert [line.split()[1] for line in listed.splitlines()] == [
        "help", "test", "update", "explain", "check", "run", "watch", "clean",
    ]  # fmt: skip


def test_a_new_project_runs_and_accounts_for_every_row(spark, slackwater, project):
    sql = project / "queries.sql"
    for name in ("data", "late"):  # the JVM of the session has another working folder
        sql.write_text(sql.read_text().replace(f"path '{name}'", f"path '{project / name}'"))
    ran = slackwater("run", "queries.sql", "--available-now", "--checkpoint", project / "checkpoint")
    assert ran.returncode == 0, ran.stderr
    rows = sum(len(file.read_text().splitlines()) for file in (project / "data").iterdir())
    assert f"Readings: {rows} rows in = " in ran.stdout
    assert "0 rejected" in ran.stdout
    late = spark.read.parquet(str(project / "late")).collect()
    assert [(row.sensor, row.value, row.windows_missed) for row in late] == [(1, 19.9, 1)]


def test_monitoring_is_that_of_the_examples(project):
    for name in ("alerts.yml", "prometheus.yml"):
        assert (project / "monitoring" / name).read_text() == (ROOT / "examples" / "monitoring" / name).read_text()


@pytest.mark.parametrize("taken", ["folder", "way back", "file"])
def test_nothing_is_written_over(slackwater, tmp_path, taken):
    place = tmp_path / "here"
    if taken != "file":
        place.mkdir()
        (place / "mine").touch()
        place = place if taken == "folder" else place / "new" / ".."
    else:
        place.write_text("mine")
    refused = slackwater("init", place)
    assert refused.returncode == 2
    assert refused.stderr.startswith("SW-465")


def test_a_place_that_cannot_be_written_is_told(slackwater, tmp_path):
    (tmp_path / "file").touch()
    refused = slackwater("init", tmp_path / "file" / "below")
    assert refused.returncode == 2
    assert refused.stderr.startswith("SW-497")


def test_demos_are_listed_and_shown(slackwater):
    listed = slackwater("demo").stdout.splitlines()
    assert [line.split()[0] for line in listed] == DEMOS
    assert slackwater("demo", "clicks", "--show").stdout == demo_text("clicks")
    assert slackwater("demo", "sharks").returncode == 2
    examples = [line.strip(" │") for line in slackwater("demo", "--help").stdout.splitlines()]
    assert {"slackwater demo", "slackwater demo clicks --show > clicks.sql"} <= set(examples)


def test_every_demo_says_what_to_look_at_and_can_be_run(spark, slackwater, tmp_path):
    for name in DEMOS:
        assert len(demo_sentences(name)) == 3
        file = tmp_path / f"{name}.sql"
        file.write_text(demo_text(name))
        checked = slackwater("dry-run", file)
        assert checked.returncode == 0, checked.stderr
