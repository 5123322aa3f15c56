"""`slackwater test`, as a user calls it."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = """\
```sql
CREATE STREAM Clicks (page STRING, ts TIMESTAMP) USING json TIMESTAMP BY ts;
```
## [bold]One click[/]
```example
SELECT page FROM Clicks

Clicks | ts | page
0      | 1  | home
flush

result | page
1      | {}
```
"""


def test_cases_that_pass(slackwater):
    shown = slackwater("test", ROOT / "examples" / "traffic_cases.md", ROOT / "docs" / "testing.md")
    assert shown.returncode == 0
    assert shown.stdout.count("\nok      ") == 3
    assert "3 passed in" in shown.stdout


def test_a_case_that_fails_is_shown_and_can_be_updated(slackwater, tmp_path):
    file = tmp_path / "cases.md"
    file.write_text(PAGE.format("cart"))
    shown = slackwater("test", file)
    assert shown.returncode == 1
    assert "FAILED  [bold]One click[/] (cases.md:5)\n        result: 1 row not as expected\n" in shown.stdout
    assert "          - 1      | cart\n          + 1      | home\n                     ^^^^\n" in shown.stdout
    assert "1 failed in" in shown.stdout
    changed = slackwater("test", file, "--update")
    assert changed.returncode == 0
    assert "1 updated in" in changed.stdout
    assert file.read_text() == PAGE.format("home")


def test_what_cannot_be_read_exits_with_2(slackwater, tmp_path):
    assert slackwater("test", tmp_path / "no.md").returncode == 2
    page = tmp_path / "cases.md"
    page.write_text(PAGE.format("home"))
    assert slackwater("test", page, "--update", "--engine", "spark").stderr.startswith("SW-489")
    assert slackwater("test", page, "--only", "two").stderr.startswith("SW-488")
    assert slackwater("test", page, "--engine", "flink").returncode == 2
