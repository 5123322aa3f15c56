"""Late and rejected rows as rows: those of the pipeline's own batches, exactly as many as were counted."""

import json
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.spark.conformance import Punctuations, _plain, _written
from tests.spark.conformance import expected as result_of
from tests.spark.io.sinks.running import finished

from slackwater.algebra.catalog import Catalog
from slackwater.app.views import optimise_pipelines
from slackwater.disorder import controller
from slackwater.errors import InputError, QueryError
from slackwater.lang import parse_script
from slackwater.semantics import Feed, FeedBatch, interpret
from slackwater.spark.run.pipeline import Manner, start
from slackwater.spark.run.sides import group_by_query
from slackwater.spark.watermark import steering
from slackwater.testing.catalog import CATALOG, EDITS, EVENTS, PULSES, READINGS
from slackwater.testing.choices import Seeded
from slackwater.testing.streams import make_feeds

SECOND = 1_000_000
SIDES = """
CREATE SINK answers USING memory; CREATE SINK lateness USING memory; CREATE SINK bad USING memory;
INSERT INTO answers {query};
INSERT INTO lateness SELECT *, late_by + v AS more FROM answers$late WHERE kind IS NOT NULL;
INSERT INTO bad SELECT raw, reason FROM Readings$rejected;
"""


@pytest.mark.parametrize(
    "query",
    [
        "SELECT kind, COUNT(*) AS n FROM Readings [RANGE 6 seconds SLIDE 2 seconds] WHERE v > 0 GROUP BY kind",
        "SELECT kind, COUNT(*) AS n, window_end FROM Readings [RANGE 2 seconds SLIDE 5 seconds] GROUP BY kind",
        "SELECT kind, COUNT(*) AS n FROM Readings [RANGE 3 TUPLES] GROUP BY kind",
    ],
)
def test_late_and_rejected_rows_are_those_of_the_interpreter(spark, tmp_path, query):
    (feed,) = make_feeds(
        Seeded(4), ["Readings"], disorder=["heavy"], punctuation="trailing", unit=SECOND, max_rows=120
    ).values()
    script = parse_script(SIDES.format(query=query), catalog=CATALOG)
    ((main, sides),) = group_by_query(optimise_pipelines(script))
    rows, _ = _written(spark, READINGS, feed, len(feed.batches), tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        control = Punctuations(feed)
        patch.setattr(steering, "Control", lambda *_: control)
        list(start(main, {"Readings": rows}, tmp_path / "check", Manner(available_now=True), sides=sides).progress())
    answer = interpret(script.pipelines[0].plan, {"Readings": feed})
    assert control.lost == len(answer.lost) > 0
    expected = Counter(
        (*each.row.values(), each.late_by, each.punctuation, each.missed)
        for each in answer.late
        if each.row["kind"] is not None
    )
    found = Counter(tuple(map(_plain, row))[:-1] for row in spark.table("lateness").collect())
    assert found == expected
    assert {each[-1] > 0 for each in expected} == {True, False}, "some missed windows, some did not"
    rows = Counter(tuple(map(_plain, row)) for row in spark.table("answers").collect())
    assert rows == result_of(script.pipelines[0].plan, {"Readings": feed})
    bad = spark.table("bad").collect()
    assert len(bad) == len(answer.rejected) > 0
    assert {row.reason for row in bad} == {"it has no event time"}
    assert Counter(json.loads(row.raw).get("v") for row in bad) == Counter(each.row["v"] for each in answer.rejected)


SEVERAL = """
CREATE SINK answers USING noop; CREATE SINK late_readings USING memory; CREATE SINK late_events USING memory;
CREATE SINK bad USING memory;
INSERT INTO answers {query};
INSERT INTO late_readings SELECT * FROM answers$Readings$late;
INSERT INTO late_events SELECT * FROM Events$late;
INSERT INTO bad SELECT raw, reason FROM Events$rejected;
"""
UNSOURCED = replace(READINGS, source=None)
SLACKS = {"Readings": 1, "Events": 3}


@pytest.mark.parametrize(
    "query",
    [
        pytest.param(
            "SELECT R.id, E.v FROM Readings [RANGE 6 seconds SLIDE 2 seconds SLACK 1] R,"
            " Events [RANGE 4 seconds SLIDE 2 seconds SLACK 3] E WHERE R.id = E.id",
            marks=pytest.mark.slow,
        ),
        "SELECT id FROM Readings [RANGE 6 seconds SLACK 1] UNION ALL"
        " SELECT v FROM Events [RANGE 9 seconds SLACK 3] EMIT CHANGES",
    ],
)
def test_each_of_several_streams_has_its_own_late_rows(spark, tmp_path, query):
    made = make_feeds(Seeded(18), [*SLACKS], disorder=["heavy"], unit=SECOND, max_rows=60, max_batches=5)
    feeds = {name: punctuated(made[name], slack) for name, slack in SLACKS.items()}
    script = parse_script(SEVERAL.format(query=query), catalog=Catalog((UNSOURCED, EVENTS)))
    ((main, sides),) = group_by_query(optimise_pipelines(script))
    longest = max(len(feed.batches) for feed in feeds.values())
    streams = {
        each.name: _written(spark, each, feeds[each.name], longest, tmp_path / each.name)[0]
        for each in (UNSOURCED, EVENTS)
    }
    records = list(start(main, streams, tmp_path / "check", Manner(available_now=True), sides=sides).progress())
    answer = interpret(script.pipelines[0].plan, feeds)
    accounts = {each.stream: each.account for each in records[-1].controls}
    for name in feeds:
        expected = Counter(
            (*each.row.values(), each.late_by, each.punctuation, each.missed)
            for each in answer.late
            if each.stream == name
        )
        found = Counter(tuple(map(_plain, row)) for row in spark.table(f"late_{name}").collect())
        assert found == expected
        assert accounts[name].late == expected.total()
        assert accounts[name].lost == sum(1 for each in answer.lost if each.stream == name)
        assert {each[-1] > 0 for each in expected} == {True, False}, "some missed windows, some did not"
    assert sum(each.lost for each in records) == len(answer.lost) > 0
    bad = [each for each in answer.rejected if each.stream == "Events"]
    assert spark.table("bad").count() == accounts["Events"].untimed == len(bad) > 0


def punctuated(feed: Feed, slack: int) -> Feed:
    """Return the feed with the punctuation that a controller returns after each batch."""
    alone, batches = controller(None, slack=slack, unit="ms"), []
    for batch in feed.batches:
        rows = [row for row in batch.rows if row["ts"] is not None]
        times = (np.array([row[name] for row in rows], dtype=np.int64) // 1_000 for name in ("ts", "arrived"))
        batches.append(replace(batch, punctuation=max(0, alone.observe(*times)) * 1_000))
    return Feed(tuple(batches))


REFUSING = """
CREATE SINK answers USING parquet OPTIONS (path '{folder}/answers', 'changelog.netChanges' 'false');
CREATE SINK twice USING parquet OPTIONS (path '{folder}/twice');
CREATE SINK lateness USING parquet OPTIONS (path '{folder}/lateness');
INSERT INTO answers {query};
INSERT INTO twice SELECT ts, op, id, v, refusal FROM {side}$refused WHERE v < 90;
"""
LIVES, UNKNOWN = "an insert of a key that lives", "no change type that is known"


def edits(*rows: tuple[int, str | None, int, int]) -> tuple[dict[str, object], ...]:
    return tuple({"op": op, "id": key, "v": v, "ts": ts * SECOND} for ts, op, key, v in rows)


FEEDS = {
    "Edits": (
        FeedBatch(
            edits((3, "insert", 1, 30), (1, "Insert", 1, 10), (2, "insert", 2, 20), (4, "what", 3, 40)), 5 * SECOND
        ),
        FeedBatch(edits((6, "insert", 2, 60), (7, "delete", 2, 70), (8, "insert", 2, 80)), 9 * SECOND),
        FeedBatch(edits((10, "INSERT", 2, 95), (12, None, 4, 50), (1, "insert", 1, 11)), 20 * SECOND),
    ),
    "Pulses": (
        FeedBatch(({"id": 2, "v": 7, "ts": SECOND},), 5 * SECOND),
        FeedBatch((), 9 * SECOND),
        FeedBatch((), 20 * SECOND),
    ),
}
REFUSED = {30: LIVES, 40: UNKNOWN, 60: LIVES, 95: LIVES, 50: UNKNOWN}


@pytest.mark.parametrize(
    ("query", "side", "more"),
    [
        pytest.param(
            "SELECT id, v FROM Edits EMIT CHANGES",
            "Edits",
            "INSERT INTO lateness SELECT * FROM answers$late;",
            marks=pytest.mark.slow,
        ),
        ("SELECT E.id, P.v FROM Edits E, Pulses [RANGE 9 seconds] P WHERE E.id = P.id EMIT CHANGES", "answers", ""),
    ],
)
def test_refused_rows_are_those_of_the_interpreter_and_every_one_is_counted(spark, tmp_path, query, side, more):
    """Which of two inserts is refused goes by their times; the query stops halfway and goes on."""
    text = REFUSING.format(folder=tmp_path, query=query, side=side) + more
    script = parse_script(text, catalog=CATALOG)
    ((main, sides),) = group_by_query(optimise_pipelines(script))
    given = [each for each in (EDITS, PULSES) if each.name in query]
    runs = []
    with pytest.MonkeyPatch.context() as patch:
        for batches in (2, 3):
            patch.setattr(steering, "Control", partial(Punctuations, Feed(FEEDS["Edits"][:batches])))
            streams = {
                each.name: _written(spark, each, Feed(FEEDS[each.name]), batches, tmp_path / each.name)[0]
                for each in given
            }
            running = start(main, streams, tmp_path / "check", Manner(available_now=True), sides=sides)
            runs.append(list(running.progress()))
    fed = {each.name: Feed((*FEEDS[each.name][:2], FeedBatch(), *FEEDS[each.name][2:], FeedBatch())) for each in given}
    answer = interpret(script.pipelines[0].plan, fed)
    expected = [tuple(each.row[name] for name in ("ts", "op", "id", "v")) for each in answer.refused]
    assert {row[-1] for row in expected} == set(REFUSED)
    found = [tuple(map(_plain, row)) for row in spark.read.parquet(f"{tmp_path}/twice").drop("batch").collect()]
    assert sorted(found) == sorted((*row, REFUSED[row[-1]]) for row in expected if row[-1] < 90)
    assert [sum(each.refused for each in records) for records in runs] == [3, 2]
    assert sum(each.rows_out for records in runs for each in records) == len(answer.changes)
    if more:
        assert spark.read.parquet(f"{tmp_path}/lateness").count() == len(answer.late) == 1


def test_a_stream_that_is_no_changelog_has_no_refused_rows():
    query = "SELECT ts, 'x' AS op, id, v FROM Readings EMIT CHANGES"
    with pytest.raises(QueryError, match=r"there is no stream or view 'answers\$refused'"):
        parse_script(REFUSING.format(folder="out", query=query, side="answers"), catalog=CATALOG)


POISON = (
    '{"id": "not a number", "v": 1.5, "ts": "2024-01-01T00:00:05Z"}',
    '{"id": 7, "v": 1.5, "ts": "2024-01-0',
    '{"id": 7, "v": {}, "ts": "2024-01-01T00:00:05Z", "received": "2024-01-01T00:00:05Z"}',
    '{"id": 99999999999, "v": 1.5, "ts": "2024-01-01T00:00:05Z"}',
    '{"id": 7, "v": 1.5, "ts": "yesterday"}',
    '{"id": 7, "v": "' + "z" * 1_000_000 + '", "ts": "2024-01-01T00:00:05Z"}',
    '{"id": 7, "v": 1\0.5}',
    "\0\0\0",
    "\0{}",
)
UNTIMED = ('{"id": 8, "v": 2.5}', '{"id": 8, "v": 2.5, "ts": null}', "{}")
YEAR_9999 = '{"id": 9, "v": 0.5, "ts": "9999-12-31T23:59:59Z", "received": "%s"}'
STREAM = """
CREATE STREAM Traffic (id INT, v DOUBLE, ts TIMESTAMP, received TIMESTAMP)
USING json OPTIONS (path '{folder}/in', maxFilesPerTrigger '1') TIMESTAMP BY ts ARRIVAL BY received;
CREATE SINK counts USING parquet OPTIONS (path '{folder}/counts');
CREATE SINK lateness USING json OPTIONS (path '{folder}/lateness');
CREATE SINK bad USING postgres OPTIONS ({database}, table 'set_aside');
INSERT INTO counts SELECT COUNT(*) AS n FROM Traffic [RANGE 2 seconds SLIDE 2 seconds DRATIO 2% USING adaptive];
INSERT INTO lateness SELECT id, ts, late_by FROM counts$late;
INSERT INTO bad SELECT * FROM Traffic$rejected;
"""
BATCHES, ROWS = 4, 600


def stamp(milliseconds: int) -> str:
    return str(np.datetime64(1_704_067_200_000 + milliseconds, "ms")) + "Z"


def poisoned(folder: Path) -> tuple[list[tuple[np.ndarray, np.ndarray]], int]:
    """Write files with 1% malformed rows and 10 rows from the year 9999; return the honest times and the row count."""
    folder.mkdir()
    rng = np.random.default_rng(3)
    honest, total = [], 0
    for number in range(BATCHES):
        arrival = number * 6_000 + np.arange(ROWS) * 10
        event = np.maximum(0, arrival - rng.exponential(300, ROWS).astype(np.int64))
        rows = zip(map(stamp, event.tolist()), map(stamp, arrival.tolist()), strict=True)
        lines = [json.dumps({"id": 1, "v": 1.0, "ts": ts, "received": received}) for ts, received in rows]
        extra = [*POISON, *UNTIMED, *[YEAR_9999 % stamp(number * 6_000)] * (4 if number < 2 else 1)]
        for line in extra:
            lines.insert(int(rng.integers(len(lines))), line)
        total += len(lines)
        (folder / f"{number}.json").write_text("\n".join(lines))
        honest.append((event + 1_704_067_200_000, arrival + 1_704_067_200_000))
    return honest, total


def test_every_row_is_accounted_for_among_poison_and_rows_from_the_year_9999(spark, database, tmp_path):
    honest, total = poisoned(tmp_path / "in")
    assert total * 0.01 < BATCHES * len(POISON) < total * 0.02
    records = finished(spark, STREAM.format(folder=tmp_path, database=database.clause), tmp_path / "check")
    account = records[-1].controls[0].account

    alone = controller(0.02, "adaptive", unit="ms")
    before, late = 0, 0
    for event, arrival in honest:
        late += int(np.count_nonzero(event < before))
        before = alone.observe(event, arrival)
    rejected = BATCHES * (len(POISON) + len(UNTIMED))
    assert late > 0
    assert account.punctuation == before, "the year 9999 moved nothing"
    assert (account.rows, account.late, account.untimed, account.suspect) == (total, late, rejected, 10)
    assert account.on_time == BATCHES * ROWS + 10 - late
    assert sum(each.rows_in for each in records) == total
    assert sum(each.rejected for each in records) == rejected

    found = Counter(raw for (raw,) in database.rows("SELECT raw FROM set_aside WHERE reason LIKE '%malformed%'"))
    assert found == Counter({line.replace("\0", "\u2400"): BATCHES for line in POISON})
    assert database.rows("SELECT count(*) FROM set_aside WHERE reason = 'it has no event time'") == [(12,)]
    lateness = spark.read.json(str(tmp_path / "lateness"))
    assert lateness.count() == late
    assert lateness.where("late_by <= 0 OR id <> 1").count() == 0
    counted = spark.read.parquet(str(tmp_path / "counts")).groupBy().sum("n").first()[0]
    assert 0 < counted <= account.on_time + late


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("INSERT INTO lateness SELECT COUNT(*) AS n FROM answers$late [RANGE 1 second SLIDE 1 second]", "SW-304"),
        ("INSERT INTO lateness SELECT L.id FROM answers$late L, Events E", "SW-306"),
    ],
)
def test_what_late_rows_cannot_do_is_said(spark, text, code, tmp_path):
    query = "SELECT COUNT(*) AS n FROM Readings [RANGE 2 seconds SLIDE 5 seconds]"
    declared = "CREATE SINK answers USING memory; CREATE SINK lateness USING memory;"
    script = parse_script(f"{declared} INSERT INTO answers {query}; {text}", catalog=CATALOG)
    columns = ", ".join(f"{field.name} {field.type}" for field in READINGS.fields)
    with pytest.raises(QueryError) as caught:
        ((main, sides),) = group_by_query(optimise_pipelines(script))
        start(main, {"Readings": spark.createDataFrame([], columns)}, tmp_path, sides=sides)
    assert caught.value.code == code


def test_a_format_that_cannot_take_a_batch_once_takes_no_sides(spark, tmp_path):
    text = SIDES.format(query="SELECT COUNT(*) AS n FROM Readings [RANGE 2 seconds SLIDE 5 seconds]")
    ((main, sides),) = group_by_query(
        optimise_pipelines(parse_script(text.replace("answers USING memory", "answers USING jdbc"), catalog=CATALOG))
    )
    columns = ", ".join(f"{field.name} {field.type}" for field in READINGS.fields)
    with pytest.raises(InputError) as caught:
        start(main, {"Readings": spark.createDataFrame([], columns)}, tmp_path, sides=sides)
    assert caught.value.code == "SW-456"
