"""The ledger: one record per batch from Spark's events, every row counted once."""

import json
from dataclasses import asdict
from functools import partial

import pytest

from slackwater.disorder.state import pack
from slackwater.spark.operator.host import COUNTED
from slackwater.spark.run.progress import OUTPUT, TOLD, Ledger
from slackwater.spark.run.record import record_of
from slackwater.spark.store import Location
from slackwater.spark.watermark.accounts import accounts_after, accounts_kept
from slackwater.spark.watermark.punctuate import Account
from slackwater.spark.watermark.state_files import StateFiles

CONTROL = "Traffic-0badcafe"


def event(batch: int, out: int | None = None, **durations: int) -> dict[str, object]:
    return {
        "batchId": batch,
        "durationMs": {"addBatch": 5, "triggerExecution": 1_500} | durations,
        "stateOperators": [{"memoryUsedBytes": 70}, {"memoryUsedBytes": 30}],
        "observedMetrics": {OUTPUT: {"rows": out}},
    }


FIRST = Account(punctuation=900, rows=100, late=0, untimed=1, suspect=2, held=40, clock=1_000, held_time=2_000)
SECOND = Account(punctuation=1_700, rows=150, late=3, untimed=1, suspect=2, held=30, clock=2_000, held_time=7_300)


@pytest.fixture
def ledger() -> Ledger:
    return Ledger("fastest", {"Traffic": 0.05}, {0: {CONTROL: FIRST}, 1: {CONTROL: SECOND}, 2: {}}.__getitem__)


def test_a_record_counts_its_own_batch_and_its_controls_count_all(ledger):
    ledger.enter(event(0))
    record = ledger.enter(event(1, out=12))
    assert (record.batch, record.rows_in, record.rows_out) == (1, 50, 12)
    assert (record.late, record.rejected, record.suspect, record.held) == (3, 0, 0, 30)
    assert (record.state_bytes, record.seconds) == (100, 1.5)
    (control,) = record.controls
    assert (control.stream, control.dratio, control.account) == ("Traffic", 0.05, SECOND)
    assert control.ratio == record.ratio == 3 / 150
    assert control.hold == record.hold == 7_300 / 146
    assert control.lag == 300
    assert record.punctuation == 1_700


def test_a_resumed_query_counts_on_from_what_its_checkpoint_has(tmp_path):
    kept = StateFiles(Location(str(tmp_path)), CONTROL)
    for batch, account in enumerate((FIRST, SECOND)):
        kept.write(batch, pack("control", 1, {**asdict(account), "controller": b""}))
    assert accounts_kept(Location(str(tmp_path))) == {}
    (tmp_path / "commits").mkdir()
    (tmp_path / "commits" / "0").touch()
    after = partial(accounts_after, Location(str(tmp_path)))
    resumed = Ledger("fastest", {"Traffic": 0.05}, after, accounts_kept(Location(str(tmp_path))))
    record = resumed.enter(event(1))
    assert (record.rows_in, record.late, record.rejected, record.suspect) == (50, 3, 0, 0)
    assert record.recent_hold == (7_300 - 2_000) / 47
    assert record.controls[0].account == SECOND


def test_refused_rows_are_counted_by_batch_and_since_the_run_began(ledger):
    before = ledger.enter(event(0))
    assert (before.refused, before.controls[0].refused) == (0, None)
    for batch, refused in ((1, 2), (2, None)):
        told = event(batch)
        told["observedMetrics"] = {f"{COUNTED}.7": {"refused/Traffic": refused}}
        record = ledger.enter(told)
        assert (record.refused, record.controls[0].refused) == (refused or 0, 2)


def test_a_batch_without_rows_keeps_the_account(ledger):
    ledger.enter(event(0))
    ledger.enter(event(1))
    record = ledger.enter(event(2, out=4))
    assert (record.rows_in, record.late, record.rows_out) == (0, 0, 4)
    assert record.controls[0].account == SECOND


def test_idle_triggers_and_repeated_events_are_no_batches(ledger):
    idle = event(0)
    idle["durationMs"] = {"triggerExecution": 3}
    assert ledger.enter(idle) is None
    assert ledger.enter(event(0)) is not None
    assert ledger.enter(event(0)) is None


def test_the_record_of_a_batch_has_counts_times_and_what_the_controls_saw(ledger):
    ledger.enter(event(0))
    told = event(1, out=12, queryPlanning=200) | {"timestamp": "2026-01-01T00:00:01.000Z", "runId": "r"}
    seen = {"delays": [[3, 80], [40, 10]], "hold_p50": 90.0, "hold_p99": 150.0, "late_rows": [[1, 2]], "against": 900}
    seen["holds"] = "waiting for sender 7"
    told["observedMetrics"][OUTPUT][TOLD] = json.dumps({CONTROL: seen})
    told["stateOperators"][0]["numRowsTotal"] = 9
    progress = ledger.enter(told)
    record = record_of(progress)
    assert json.loads(json.dumps(record)) == record
    assert record["rows_in"] == record["on_time"] + record["late"] + record["rejected"] == 50
    assert (record["batch"], record["run"], record["at"]) == (1, "r", 1_767_225_602_500)
    assert (record["punctuation"], record["clock"], record["allowed"]) == (1_700, 2_000, 0.05)
    assert record["hold"] == {"p50": 90.0, "mean": round(5_300 / 47, 1), "p99": 150.0}
    assert record["parts"] == {"addBatch": 5, "queryPlanning": 200, "other": 1_295}
    assert (record["state_rows"], record["state_bytes"]) == (9, 100)
    (stream,) = record["streams"]
    assert (stream["stream"], stream["rows"], stream["late"], stream["delays"]) == ("Traffic", 150, 3, seen["delays"])
    assert (stream["late_rows"], stream["against"], stream["holds"]) == ([[1, 2]], 900, "waiting for sender 7")


def test_a_query_that_is_no_pipeline_counts_the_rows_of_its_sink(ledger):
    told = event(0)
    told["observedMetrics"] = {}
    assert ledger.enter(told | {"sink": {"numOutputRows": 7}}).rows_out == 7
    assert ledger.enter(told | {"batchId": 1, "sink": {"numOutputRows": -1}}).rows_out == 0
