"""The files in examples/monitoring: valid, and about metrics that exist."""

import json
import re
from pathlib import Path

import yaml

from slackwater.app.monitor.metrics import COUNTER, DELAY, DOCUMENTED

FOLDER = Path(__file__).parents[3] / "examples" / "monitoring"
EXPOSED = {f"{name}_total" if kind is COUNTER else name for name, (kind, _, _) in DOCUMENTED.items()} | {
    f"{DELAY}_bucket"
}
LABELS = {"outcome": ("on_time", "late", "rejected")}


def check(expression: str) -> None:
    """Check that an expression uses only our metrics, closes every bracket, and has label values that can occur."""
    used = set(re.findall(r"\bslackwater_\w+", expression))
    assert used and used <= EXPOSED, used - EXPOSED
    assert [expression.count(each) for each in "([{"] == [expression.count(each) for each in ")]}"]
    for label, value in re.findall(r'(\w+)="([^"]*)"', expression):
        assert value in LABELS[label]


def test_alert_rules_are_valid_and_each_says_what_is_wrong():
    (group,) = yaml.safe_load((FOLDER / "alerts.yml").read_text())["groups"]
    for rule in group["rules"]:
        assert set(rule) == {"alert", "expr", "for", "labels", "annotations"} and rule["annotations"]["summary"]
        assert rule["labels"]["severity"] in ("critical", "warning") and re.fullmatch(r"\d+m", rule["for"])
        check(rule["expr"])
        named = set(re.findall(r"\$labels\.(\w+)", " ".join(rule["annotations"].values())))
        assert named <= {"pipeline", "stream"}


def test_the_configuration_of_prometheus_names_the_rules_that_are_there():
    settings = yaml.safe_load((FOLDER / "prometheus.yml").read_text())
    assert all((FOLDER / name).exists() for name in settings["rule_files"])
    assert settings["scrape_configs"][0]["static_configs"][0]["targets"] == ["127.0.0.1:9464"]


def test_the_grafana_dashboard_is_valid_and_its_panels_do_not_overlap():
    board = json.loads((FOLDER / "grafana.json").read_text())
    panels = board["panels"]
    assert len({each["id"] for each in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for each in panels:
        place = each["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken and max(x for x, _ in cells) < 24
        taken |= cells
        for target in each["targets"]:
            check(target["expr"])
    used = " ".join(target["expr"] for each in panels for target in each["targets"])
    assert {name for name in EXPOSED if name not in used} == {
        "slackwater_batches_total",
        "slackwater_last_batch_timestamp_seconds",
        "slackwater_state_bytes",
    }
