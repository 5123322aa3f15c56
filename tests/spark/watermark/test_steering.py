"""Which runs the controllers know: all that are running, and the last of those that have ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from slackwater.algebra.nodes import Policy
from slackwater.errors import RunError
from slackwater.spark.watermark import steering
from slackwater.spark.watermark.spec import Spec
from slackwater.spark.watermark.steering import ENDED, Controls, Request

SPEC = Spec("ts-0badcafe", Policy(dratio=0.01), in_arrival_order=True, named=False)
OTHER = Spec("two words-0badcafe", Policy(slack=3, estimator="adaptive"), in_arrival_order=False, named=True)


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return the set of running queries, which a test may change."""
    running: set[str] = set()
    monkeypatch.setattr(steering, "active_queries", lambda _: running)
    monkeypatch.setattr(steering.SparkSession, "active", lambda: None)
    return running


def begun(controls: Controls, folder: Path, query: str, run: str, *specs: Spec, batch: int = 0) -> str:
    """Send the request of the driver before the first batch of a run, and return the answer."""
    lines = ["begin", query, run, str(batch), f"file:{folder}/{query}", *(f"{each.text}\t" for each in specs)]
    file = folder / "asked"
    file.write_bytes("\n".join(lines).encode() + b"\n\n")
    return controls.apply(str(file))


def test_a_request_has_each_gauge_with_its_spec_and_its_readings():
    head = ["end", "q", "r", "7", "/c", f"{SPEC.text}\t 2 3", f"{OTHER.text}\t"]
    found = Request.of("\n".join(head).encode() + b"\n\nabcde")
    assert found == Request("end", "q", "r", 7, "/c", [(SPEC, [b"ab", b"cde"]), (OTHER, [])])


def test_of_queries_that_have_ended_the_last_are_known_and_nothing_is_kept_of_others(running, tmp_path):
    controls = Controls()
    running.add("long")
    for number in range(3 * ENDED):
        begun(controls, tmp_path, "long" if number == 0 else f"q{number}", f"r{number}", SPEC)
    ended = [f"r{number}" for number in range(2 * ENDED - 1, 3 * ENDED)]
    assert list(controls.runs) == ["r0", *ended]
    assert set(controls.accounts("r0")) == set(controls.accounts(ended[0])) == {SPEC.control}
    assert controls.accounts("r1") == {} and controls.failure("r1") is None


def test_a_query_that_begins_anew_takes_the_place_of_its_run_before(running, tmp_path):
    controls = Controls()
    begun(controls, tmp_path, "q", "first", SPEC)
    begun(controls, tmp_path, "q", "then", SPEC)
    assert list(controls.runs) == ["then"]


def test_whoever_reads_accounts_is_not_disturbed_by_a_control_that_is_made(running, tmp_path):
    controls = Controls()
    begun(controls, tmp_path, "q", "r", SPEC)
    read = iter(controls.runs["r"].controls)
    begun(controls, tmp_path, "q", "r", SPEC, OTHER)
    assert list(read) == [SPEC.control]
    assert set(controls.accounts("r")) == {SPEC.control, OTHER.control}


def test_why_controllers_failed_is_known_by_the_run(running, tmp_path):
    controls = Controls()
    with pytest.raises(RunError):
        begun(controls, tmp_path, "q", "r", SPEC, batch=3)
    failure = controls.failure("r")
    assert failure is not None and failure.code == "SW-523"
