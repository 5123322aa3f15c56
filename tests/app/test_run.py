"""A whole file, run as the command runs it, on generated streams."""

import json
import re
import shutil
from functools import partial
from importlib import import_module
from io import StringIO
from pathlib import Path
from time import monotonic, sleep

import pytest
from pyspark.sql.streaming import StreamingQueryListener
from rich.console import Console

from slackwater.algebra.catalog import Script
from slackwater.app.dry_run import check_pipelines, check_script, drop_unused_declarations, dry_run
from slackwater.app.live.watch import Watch
from slackwater.app.monitor.progress_log import ProgressLog
from slackwater.app.plans.documents import document_of, script_of
from slackwater.app.plans.explain import write_plans
from slackwater.app.plans.formats import Format
from slackwater.app.run import Conditions, _await_first_batches, _start_stage, _stop_at_end, run
from slackwater.app.views import optimise_pipelines
from slackwater.errors import InputError, QueryError, RunError, SlackwaterError
from slackwater.lang import parse_script
from slackwater.spark.run.progress import OUTPUT, TOLD
from slackwater.spark.run.sides import group_by_query

DECLARED = """
CREATE STREAM Traffic (vehID INT, segment INT, speed DOUBLE, timestamp TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (stream 'vehicles', rate '1000', rows '8000', mean '0.3 seconds', pace 'max', batch '2 seconds')
TIMESTAMP BY timestamp ARRIVAL BY received;
CREATE SINK fastest USING {sink};
INSERT INTO fastest
"""
QUERY = """\
SELECT segment, MAX(speed) AS top, window_end
FROM Traffic [RANGE 2 seconds SLIDE 1 second DRATIO 5% USING adaptive] GROUP BY segment;
"""
CHANGES = "SELECT speed FROM Traffic [RANGE 5 seconds] EMIT CHANGES;"
SCRIPT = DECLARED + QUERY


def ran(sink: str, checkpoint: Path) -> str:
    console = Console(file=StringIO(), width=200, highlight=False)
    script = parse_script(SCRIPT.format(sink=sink))
    run(script, Conditions(checkpoint, "local[2]", available_now=True), Watch(console))
    return console.file.getvalue()


def test_every_row_is_accounted_for_and_answers_are_shown(spark, tmp_path: Path):
    shown = ran("console", tmp_path / "checkpoint")
    counts = re.search(r"Traffic: ([\d,]+) rows in = ([\d,]+) on time \+ ([\d,]+) late \+ 0 rejected", shown)
    assert counts, shown
    total, on_time, late = (int(number.replace(",", "")) for number in counts.groups())
    assert (total, on_time + late) == (8_000, 8_000)
    assert late <= 0.05 * total
    assert "window_end" in shown


@pytest.mark.slow
def test_a_plan_document_runs_as_the_text_does_and_a_second_run_goes_on_where_the_first_ended(spark, tmp_path: Path):
    def rows(script: Script, place: Path) -> list[tuple[object, ...]]:
        run(script, Conditions(place / "checkpoint", "local[2]", available_now=True), Watch(Console(file=StringIO())))
        return sorted(map(tuple, spark.read.parquet(str(place / "out")).collect()))

    texts = [SCRIPT.format(sink=f"parquet OPTIONS (path '{tmp_path / name / 'out'}')") for name in ("sql", "json")]
    document = json.loads(json.dumps(document_of(parse_script(texts[1]))))
    as_text = rows(parse_script(texts[0]), tmp_path / "sql")
    assert as_text
    assert rows(script_of(document), tmp_path / "json") == as_text
    assert rows(parse_script(texts[0]), tmp_path / "sql") == as_text


LATE = "CREATE SINK later USING parquet OPTIONS (path '{late}'); INSERT INTO later SELECT vehID FROM fastest$late;"


@pytest.mark.parametrize("beside", ["", LATE], ids=["alone", "with late rows"])
def test_a_run_that_begins_anew_is_not_lost_among_the_files_of_the_one_before(spark, tmp_path: Path, beside: str):
    sink = f"parquet OPTIONS (path '{tmp_path / 'out'}', compresion 'snappy')"
    script = SCRIPT.format(sink=sink) + beside.format(late=tmp_path / "late")
    conditions = Conditions(tmp_path / "checkpoint", "local[2]", available_now=True)

    def refused() -> str:
        with pytest.raises(RunError) as caught:
            run(parse_script(script.replace("MAX(speed)", "MIN(speed)")), conditions, Watch(Console(file=StringIO())))
        return str(caught.value)

    console = Console(file=StringIO(), width=200)
    run(parse_script(script), conditions, Watch(console))
    assert "warning: the sink 'fastest' has the option 'compresion'" in console.file.getvalue()
    assert re.search("SW-511(.|\n)*new place", refused())
    shutil.rmtree(tmp_path / "checkpoint")
    assert "SW-515: the sink 'fastest'" in refused()
    if beside:
        shutil.rmtree(tmp_path / "out")
        assert "SW-515: the sink 'later'" in refused()
    assert not (tmp_path / "checkpoint").exists()


def test_a_dry_run_lists_what_is_right(spark):
    assert list(dry_run(parse_script(SCRIPT.format(sink="console")))) == [
        "stream Traffic: generate, 5 columns",
        "sink fastest: console",
        "pipeline fastest: segment int, top double, window_end timestamp",
    ]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"USING generate": "USING generat"}, "SW-433"),
        ({"USING generate": "USING kafka"}, "SW-440"),
        ({"'vehicles'": "'vehicle'"}, "SW-442"),
        ({"stream 'vehicles'": "streem 'vehicles'"}, "SW-440"),
        ({"USING console": "USING console OPTIONS (numRows '5')"}, "SW-450"),
        ({"USING console": "USING console OPTIONS (changelog.profil 'flink')"}, "SW-463"),
        ({"USING generate": "USING csv"} | {"stream 'vehicles'": "path '/no/such/folder'"}, "SW-462"),
        ({"segment": "segmnt"}, "SW-434"),
        ({"console": "consul"}, "SW-435"),
        ({"MAX(speed)": "MAX(no_such_function(speed))"}, "SW-436"),
    ],
)
def test_a_dry_run_finds_what_is_wrong(spark, change: dict[str, str], code: str):
    text = SCRIPT.format(sink="console")
    for right, wrong in change.items():
        text = text.replace(right, wrong)
    with pytest.raises(InputError) as caught:
        list(dry_run(parse_script(text)))
    assert caught.value.code == code
    if code == "SW-462":
        assert str(caught.value).splitlines()[1:] == ["  do: create it, or correct the option path"]


@pytest.mark.parametrize(("option", "code"), [("profile 'avro'", "SW-362"), ("upserts 'true'", "SW-364")])
def test_a_dry_run_finds_a_changelog_that_cannot_be_written_so(spark, option: str, code: str):
    sink = f"parquet OPTIONS (path 'nowhere', changelog.{option})"
    text = DECLARED.format(sink=sink) + CHANGES
    with pytest.raises(SlackwaterError, match=f"{code}: in the pipeline 'fastest'"):
        list(dry_run(parse_script(text)))


PAIRS = """
CREATE SINK pairs USING console;
INSERT INTO pairs
SELECT a.speed FROM Traffic AS a [RANGE 5 seconds], Traffic AS b [RANGE 5 seconds] WHERE a.vehID = b.vehID;
"""


def test_a_plan_that_cannot_be_run_is_told_with_its_pipeline(spark):
    text = SCRIPT.format(sink="console") + PAIRS
    with pytest.raises(QueryError, match="SW-301: in the pipeline 'pairs': Join cannot be run"):
        list(dry_run(parse_script(text)))
    with pytest.raises(QueryError, match="SW-301: in the query 'pairs': Join cannot be run"):
        write_plans(parse_script(text), Format.TEXT, physical=True)


SILENT = """
CREATE STREAM Tides (level DOUBLE, at TIMESTAMP) USING json OPTIONS (path '{folder}') TIMESTAMP BY at;
SELECT MAX(level) AS top FROM Tides [RANGE 1 minute SLIDE 1 minute];
"""


TIDES = """
CREATE STREAM Tides (level DOUBLE, at TIMESTAMP) USING {format} OPTIONS (path '{folder}/in') TIMESTAMP BY at;
CREATE STREAM Unread (level DOUBLE) USING {format} OPTIONS (path '{folder}/nowhere');
CREATE SINK high USING parquet OPTIONS (path '{folder}/out');
CREATE SINK unwritten USING consul;
INSERT INTO high SELECT MAX(level) AS top FROM Tides [RANGE 1 minute SLIDE 1 minute];
"""


def tides(spark, folder: Path, *columns: str, format: str = "parquet") -> Script:
    """Return the script over files with these columns, one file for each list of columns."""
    (folder / "in").mkdir()
    for each in columns:
        rows = spark.sql(f"SELECT {each}, TIMESTAMP'2026-01-01 10:00:00' AS at").coalesce(1)
        rows.write.format(format).mode("append").save(str(folder / "in"))
    return parse_script(TIDES.format(format=format, folder=folder))


@pytest.mark.parametrize("format", ["parquet", "json"])
def test_a_run_refuses_a_column_that_is_misspelt_before_anything_starts(spark, tmp_path: Path, format: str):
    script = tides(spark, tmp_path, "1.5D AS levels", format=format)
    with pytest.raises(InputError, match="did you mean 'levels'") as caught:
        run(
            script, Conditions(tmp_path / "checkpoint", "local[2]", available_now=True), Watch(Console(file=StringIO()))
        )
    assert caught.value.code == "SW-434"
    assert not (tmp_path / "checkpoint").exists()


def test_a_column_that_only_some_files_have_is_there(spark, tmp_path: Path):
    script = tides(spark, tmp_path, "1.5D AS height", "1.5D AS level")
    assert len(list(check_script(spark, drop_unused_declarations(script)))) == 3


@pytest.mark.parametrize(("format", "columns"), [("parquet", ()), ("json", ()), ("json", ("'low' AS harbour",))])
def test_what_is_not_there_yet_may_still_come(spark, tmp_path: Path, format: str, columns: tuple[str, ...]):
    """A folder without files, and a column that every row of JSON has left out so far."""
    script = tides(spark, tmp_path, *columns, format=format)
    assert len(list(check_script(spark, drop_unused_declarations(script)))) == 3


CLICKS = """
CREATE STREAM Clicks (user INT, page STRING, ts TIMESTAMP) USING csv OPTIONS (path '{folder}/csv') TIMESTAMP BY ts;
CREATE STREAM Views (user INT, page STRING, ts TIMESTAMP) USING json OPTIONS (path '{folder}/json') TIMESTAMP BY ts;
CREATE SINK clicks USING noop;
CREATE SINK views USING noop;
INSERT INTO clicks SELECT page, COUNT(*) AS n FROM Clicks [RANGE 1 minute SLIDE 1 minute] GROUP BY page;
INSERT INTO views SELECT page, COUNT(*) AS n FROM Views [RANGE 1 minute SLIDE 1 minute] GROUP BY page;
"""


def test_rows_that_cannot_be_read_are_told_while_the_pipeline_runs(spark, tmp_path: Path):
    for each in ("csv", "json"):
        (tmp_path / each).mkdir()
    (tmp_path / "csv" / "a.csv").write_text("".join(f"anna,/{n},2026-01-01 10:00:{n}\n" for n in range(10, 50)))
    good = [{"user": n, "page": "/", "ts": f"2026-01-01T10:00:{n}"} for n in range(10, 50)]
    bad = [*[json.dumps(good[0] | {"user": "anna"})] * 5, *["{"] * 3, *[json.dumps(good[0] | {"ts": None})] * 2]
    (tmp_path / "json" / "a.json").write_text("\n".join([*map(json.dumps, good), *bad]))
    console = Console(file=StringIO(), width=200)
    script = parse_script(CLICKS.format(folder=tmp_path))
    run(script, Conditions(tmp_path / "checkpoint", "local[2]", available_now=True), Watch(console))
    shown = console.file.getvalue()
    assert (
        "warning: 40 of 40 rows of Clicks were rejected (100%); the stream clicks$rejected has them\n"
        "  40 rows: no value for user INT\n  for example: anna,/10,2026-01-01 10:00:10\n"
    ) in shown
    views = shown.partition(
        "warning: 10 of 50 rows of Views were rejected (20%); the stream views$rejected has them\n"
    )[2]
    assert [line.strip() for line in views.splitlines()[:3]] == [
        "5 rows: no value for user INT",
        "3 rows: nothing in it can be read",
        "2 rows: it has no event time",
    ]
    assert views.splitlines()[3].startswith("  for example: {")


HIGH = "SELECT level FROM Tides WHERE level > 1;"


def test_a_run_reads_each_stream_and_compiles_each_plan_once(spark, tmp_path: Path, monkeypatch):
    calls: list[str] = []

    def counting(module: str, name: str) -> None:
        real = getattr(import_module(module), name)
        monkeypatch.setattr(f"{module}.{name}", lambda *given, **named: calls.append(name) or real(*given, **named))

    counting("slackwater.spark.run.pipeline", "compile_plan")
    counting("slackwater.spark.run.dry_run", "compile_plan")
    counting("slackwater.spark.io.streams", "read_stream")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text(json.dumps({"level": 1.5, "at": "2026-01-01T10:00:00"}))
    script = parse_script(SILENT.format(folder=tmp_path / "in") + HIGH)
    run(script, Conditions(tmp_path / "checkpoint", "local[2]", available_now=True), Watch(Console(file=StringIO())))
    assert sorted(calls) == ["compile_plan", "compile_plan", "read_stream"]


@pytest.mark.parametrize(
    "wrong",
    [
        SCRIPT.format(sink="console") + "{pairs}",
        DECLARED.format(sink="parquet OPTIONS (path 'p', changelog.profile 'x')") + CHANGES,
    ],
    ids=["a plan that nobody can run", "a changelog that cannot be written so"],
)
def test_a_dry_run_finds_mistakes_in_plans_before_it_starts_spark(wrong: str, monkeypatch):
    started: list[str] = []
    monkeypatch.setattr("slackwater.app.dry_run.local_session", lambda **_: started.append("session"))
    with pytest.raises(SlackwaterError, match=r"SW-3[06][12]: in the pipeline"):
        list(dry_run(parse_script(wrong.replace("{pairs}", PAIRS)), lambda: started.append("told")))
    assert started == []


EXAMPLES = sorted((Path(__file__).parents[2] / "examples").rglob("*.sql"))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_what_is_checked_before_spark_starts_lets_every_example_pass(file: Path):
    check_pipelines(group_by_query(optimise_pipelines(parse_script(file.read_text(), variables={}))))


@pytest.mark.timeout(60)
def test_a_run_over_a_silent_source_ends_when_its_time_is_up(spark, tmp_path: Path):
    (tmp_path / "in").mkdir()
    console = Console(file=StringIO(), width=200)
    script = parse_script(SILENT.format(folder=tmp_path / "in"))
    run(script, Conditions(tmp_path / "checkpoint", "local[2]", seconds=2), Watch(console))
    assert "no batch was completed" in console.file.getvalue()
    assert not spark.streams.active


def test_the_time_of_a_run_begins_when_its_first_batch_has_ended(spark, tmp_path: Path):
    console = Console(file=StringIO(), width=200, highlight=False)
    script = parse_script(SCRIPT.format(sink="noop"))
    run(script, Conditions(tmp_path / "checkpoint", "local[2]", seconds=0), Watch(console))
    assert "fastest batch 0" in console.file.getvalue()


class Starting:
    """A pipeline that has settled after it was looked at so often."""

    def __init__(self, looks: int, log: list[str], name: str) -> None:
        self.looks, self.log, self.name, self.notes, self.active = looks, log, name, [], True
        log.append(f"start {name}")

    @property
    def settled(self) -> bool:
        self.looks -= 1
        if self.looks == 0:
            self.log.append(f"settled {self.name}")
        return self.looks <= 0

    def news(self) -> list[object]:
        return []

    def wake(self) -> None:
        pass


def test_a_file_with_many_pipelines_starts_a_few_at_a_time(monkeypatch):
    monkeypatch.setattr("slackwater.app.run.AT_ONCE", 2)
    monkeypatch.setattr("slackwater.app.run.POLL", 0.0)
    log: list[str] = []
    stage = [partial(Starting, looks, log, name) for name, looks in (("a", 6), ("b", 3), ("c", 2), ("d", 1))]
    running: list[Starting] = []
    assert len(_start_stage(stage, running, Watch(Console(file=StringIO())), lambda: False)) == 4
    assert log.index("start c") > log.index("settled b") and log.index("start b") < log.index("settled a")
    starting = [sum(1 if each.startswith("start") else -1 for each in log[: place + 1]) for place in range(len(log))]
    assert max(starting) == 2 and starting[-1] == 0
    log.clear()
    assert (
        len(_start_stage([partial(Starting, 10**9, log, "e")], running, Watch(Console(file=StringIO())), lambda: True))
        == 1
    )


def test_first_batches_are_awaited_and_not_for_ever(monkeypatch):
    monkeypatch.setattr("slackwater.app.run.POLL", 0.0)
    monkeypatch.setattr(Starting, "warm", Starting.settled, raising=False)
    log: list[str] = []
    watch = Watch(Console(file=StringIO()))
    _await_first_batches([Starting(5, log, "a")], watch, lambda: False)
    assert log == ["start a", "settled a"]
    monkeypatch.setattr("slackwater.app.run.FIRST_BATCH", 0.1)
    _await_first_batches([Starting(10**9, log, "b")], watch, lambda: False)
    _await_first_batches([Starting(10**9, log, "c")], watch, lambda: True)
    assert log[2:] == ["start b", "start c"]


def test_a_query_that_cannot_be_stopped_does_not_keep_the_others_from_it():
    stopped = []

    class Query:
        def __init__(self, name: str) -> None:
            self.name = name

        def stop(self) -> None:
            stopped.append(self.name)
            if self.name == "second":
                raise RuntimeError(self.name)

    with pytest.raises(RuntimeError, match="second"), _stop_at_end() as running:
        running += [Query("first"), Query("second"), Query("third")]
    assert stopped == ["first", "second", "third"]


def test_the_same_record_of_each_batch_reaches_the_log_the_feeds_and_sparks_listener(spark, tmp_path: Path):
    heard: dict[int, dict[str, object]] = {}

    class Listener(StreamingQueryListener):
        def onQueryStarted(self, event):  # noqa: N802
            pass

        def onQueryProgress(self, event):  # noqa: N802
            if OUTPUT in event.progress.observedMetrics:
                heard[event.progress.batchId] = event.progress.observedMetrics[OUTPUT].asDict()

        def onQueryTerminated(self, event):  # noqa: N802
            pass

    listener, events, log = Listener(), [], tmp_path / "progress.jsonl"
    spark.streams.addListener(listener)
    script = parse_script(SCRIPT.format(sink=f"parquet OPTIONS (path '{tmp_path / 'out'}')"))
    try:
        with ProgressLog(log) as written_to:
            watch = Watch(Console(file=StringIO()), quiet=True, feeds=[written_to.enter, events.append], sampled=True)
            run(script, Conditions(tmp_path / "checkpoint", "local[2]", available_now=True), watch)
        said = [each for each in events if each["kind"] == "batch"]
        end = monotonic() + 30
        while len(heard) < len(said) and monotonic() < end:  # Spark tells its listeners in a thread of its own
            sleep(0.1)
    finally:
        spark.streams.removeListener(listener)
    assert [json.loads(line) for line in log.read_text().splitlines()] == said
    assert sum(each["rows_in"] for each in said) == 8_000
    assert all(each["rows_in"] == each["on_time"] + each["late"] + each["rejected"] for each in said)
    assert all(sum(each["streams"][0]["delays"][1]) == each["rows_in"] for each in said), "every delay is counted"
    assert all(each["hold"]["p50"] <= each["hold"]["p99"] and each["parts"]["addBatch"] > 0 for each in said)
    for each in said:
        (stream,) = json.loads(heard[each["batch"]][TOLD]).values()
        (mine,) = each["streams"]
        same = ("rows", "late", "punctuation", "delays", "late_rows", "holds")
        assert {name: stream[name] for name in same} == {name: mine[name] for name in same}
        assert mine["holds"] and heard[each["batch"]]["rows"] == each["rows_out"]
    first, *_, last = events
    assert (first["kind"], last) == ("pipeline", {"kind": "state", "pipeline": "fastest", "state": "stopped"})
    assert first["windows"] == {"Traffic": [(2_000, 1_000)]} and "path" not in json.dumps(first)
    answers = [row for each in events if each["kind"] == "rows" for row in each["rows"]]
    assert answers and set(answers[0]) == {"segment", "top", "window_end"}
