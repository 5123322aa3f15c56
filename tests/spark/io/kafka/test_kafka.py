"""Streams and sinks `USING kafka`, end to end on Spark, with malformed messages and a run that is killed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.faults.pipelines import spawn, strike, wait_until
from tests.spark.io.kafka.broker import Broker, running_broker
from tests.spark.streams import finish as read

from slackwater.app.live.watch import Watch
from slackwater.app.run import Conditions, run
from slackwater.errors import InputError
from slackwater.lang import parse_script
from slackwater.spark.io.kafka.sink import KafkaSink
from slackwater.spark.io.kafka.stream import has_connector
from slackwater.spark.io.streams import read_stream

ROWS = 400
SCRIPT = """
CREATE STREAM Traffic (id INT, speed DOUBLE, ts TIMESTAMP, kafka_key STRING, kafka_offset BIGINT)
USING kafka OPTIONS (kafka.bootstrap.servers '{broker}', subscribe 'traffic', startingOffsets 'earliest',
                     maxOffsetsPerTrigger '60')
TIMESTAMP BY ts ARRIVAL BY kafka_timestamp SOURCE BY kafka_partition;
CREATE SINK counts_{name} USING kafka OPTIONS (kafka.bootstrap.servers '{broker}', key 'id');
CREATE SINK changes_{name} USING kafka OPTIONS (kafka.bootstrap.servers '{broker}', changelog.profile 'debezium',
                                                transaction 'true');
CREATE SINK bad_{name} USING kafka OPTIONS (kafka.bootstrap.servers '{broker}');
INSERT INTO counts_{name} SELECT id, COUNT(*) AS n, MAX(kafka_key) AS k, window_end
    FROM Traffic [RANGE 5 seconds SLIDE 5 seconds SLACK 5000] GROUP BY id;
INSERT INTO changes_{name} SELECT id, COUNT(*) AS n FROM Traffic [SLACK 5000] GROUP BY id EMIT CHANGES;
INSERT INTO bad_{name} SELECT reason, raw FROM counts_{name}$rejected;
"""
BAD = ['{"id": 1, "speed": "fast"', "nonsense", '{"id": "one", "speed": 1.0, "ts": "2026-01-01T00:00:00Z"}']


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with running_broker() as running:
        yield running


def messages() -> list[object]:
    rows: list[object] = [
        {"id": place % 7, "speed": place / 2, "ts": f"2026-01-01T00:{place // 60:02d}:{place % 60:02d}Z"}
        for place in range(ROWS)
    ]
    return [*rows[:100], *BAD, *rows[100:]]


def finish(folder: Path, text: str) -> str:
    console = Console(file=StringIO(), width=200, highlight=False)
    run(parse_script(text), Conditions(folder / "check", "local[2]", available_now=True), Watch(console))
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def values(broker: Broker, topic: str) -> list[tuple[Any, Any, str]]:
    """Return key, value and batch of every message."""
    found = broker.read(topic)
    return [
        (json.loads(each.key() or "null"), json.loads(each.value()), dict(each.headers())["slackwater-batch"].decode())
        for each in found
    ]


def table(broker: Broker, topic: str) -> dict[int, int]:
    """Return the table after all changes. The changes of a key are in one partition, in order."""
    live: dict[int, int] = {}
    for key, change, _ in values(broker, topic):
        if change["op"] == "d":
            live.pop(key["id"], None)
        else:
            live[key["id"]] = change["after"]["n"]
    return live


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_messages_become_answers_and_changes_once_or_again_after_a_kill(spark, broker: Broker, tmp_path: Path):
    broker.send("traffic", messages(), keys=[str(place % 3) for place in range(ROWS + len(BAD))])
    process = spawn(tmp_path / "hit", SCRIPT.format(broker=broker.address, name="hit"))
    try:
        wait_until((tmp_path / "hit" / "check" / "counts_hit" / "offsets" / "3").exists, process)
    finally:
        strike(process)
    shown = (tmp_path / "hit" / "shown.txt").read_text()
    assert process.returncode == -9, shown
    assert (tmp_path / "hit" / "check" / "counts_hit" / "offsets" / "3").exists(), shown

    finish(tmp_path / "hit", SCRIPT.format(broker=broker.address, name="hit"))
    told = finish(tmp_path / "spared", SCRIPT.format(broker=broker.address, name="spared"))
    assert f"Traffic: {ROWS + len(BAD)} rows in = {ROWS} on time + 0 late + {len(BAD)} rejected" in told

    spared = Counter(json.dumps(value) for _, value, _ in values(broker, "counts_spared"))
    again = values(broker, "counts_hit")
    assert set(spared) == {json.dumps(value) for _, value, _ in again}
    assert max(spared.values()) == 1, "sent more than once without a fault"
    assert sum(json.loads(text)["n"] for text in spared) == ROWS
    assert all(key == {"id": value["id"]} for key, value, _ in again)

    expected = dict(Counter(place % 7 for place in range(ROWS)))
    assert table(broker, "changes_spared") == table(broker, "changes_hit") == expected
    assert sorted(value["raw"] for _, value, _ in values(broker, "bad_spared")) == sorted(BAD)


def test_csv_messages_metadata_and_what_this_session_lacks(spark, broker: Broker, tmp_path: Path, monkeypatch):
    broker.send("plain", ["7;high", "eight;low", "9;slack"])
    declared = """CREATE STREAM Tides (level INT, note STRING, kafka_partition INT, kafka_topic STRING,
        kafka_headers ARRAY<STRUCT<key: STRING, value: STRING>>, kafka_timestamp TIMESTAMP)
        USING kafka OPTIONS (kafka.bootstrap.servers '{}', subscribe 'plain', startingOffsets 'earliest',
        value.format '{}', value.sep ';') TIMESTAMP BY kafka_timestamp"""
    (stream,) = parse_script(declared.format(broker.address, "csv")).streams
    read(read_stream(spark, stream).drop("__slackwater_reason"), tmp_path / "check", "tides")
    found = sorted(map(tuple, spark.table("tides").collect()), key=str)
    assert [row[:4] for row in found] == [
        (7, "high", 0, "plain"),
        (9, "slack", 2, "plain"),
        (None, None, None, None),
    ]
    assert found[0][4][0].asDict() == {"key": "place", "value": "0"}
    assert found[2][6] == "eight;low"
    for form, code in (("avro", "SW-495"), ("yaml", "SW-442"), ("csv', valu.sep ';", "SW-440")):
        (other,) = parse_script(declared.format(broker.address, form)).streams
        with pytest.raises(InputError, match=code):
            read_stream(spark, other)
    assert not has_connector(spark), "the path through Spark's connector is not tested here"
    monkeypatch.setattr("slackwater.spark.io.kafka.sink.uses_connector", lambda _: True)
    options = {"kafka.bootstrap.servers": broker.address, "transaction": "true"}
    with pytest.raises(InputError, match="SW-457: option transaction of the sink 'k'"):
        KafkaSink("k", options, None).open(spark.range(1))
