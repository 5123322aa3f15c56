"""Statements of the shell, one by one: what they declare, what they show, and what a mistake costs."""

from io import StringIO

import pytest
from rich.console import Console

from slackwater.algebra.catalog import Catalog
from slackwater.app.secrets import holds_secret
from slackwater.app.shell.backstage import Backstage
from slackwater.app.shell.completion import FORMATS, complete
from slackwater.app.shell.statements import is_complete, split_statements
from slackwater.app.shell.workbench import Quit, Workbench
from slackwater.errors import RunError, SlackwaterError
from slackwater.lang import parse_script
from slackwater.spark.io.sinks import OWN_FORMATS

STREAM = "CREATE STREAM Traffic (segment INT, speed DOUBLE, ts TIMESTAMP, PRIMARY KEY (segment)) USING json OPTIONS (path '{}', password 'tide') TIMESTAMP BY ts;"  # fmt: skip  # noqa: E501


class Bench:
    """A workbench without Spark, and what it printed."""

    def __init__(self, tmp_path, start=lambda: None) -> None:
        self.out = StringIO()
        console = Console(file=self.out, width=100, highlight=False)
        self.bench = Workbench(console, Backstage(start), tmp_path / "checkpoint")

    def say(self, text: str) -> str:
        self.out.seek(0)
        self.out.truncate()
        self.bench.execute(text)
        return self.out.getvalue()


@pytest.fixture
def bench(tmp_path) -> Bench:
    made = Bench(tmp_path)
    made.say(STREAM.format(tmp_path))
    return made


def test_what_is_declared_is_listed_and_described_without_secrets(bench: Bench):
    assert bench.say("CREATE VIEW Fast AS SELECT segment FROM Traffic WHERE speed > 80;") == "view Fast\n"
    assert "Traffic  json    segment int, speed double, ts timestamp" in bench.say("show streams")
    assert "Fast" in bench.say("SHOW VIEWS;")
    assert bench.say("SHOW SINKS;") == "no sinks yet\n"
    described = bench.say("DESCRIBE traffic;")
    assert "event time" in described
    assert "key" in described
    assert "password '***'" in described
    assert "tide" not in described
    assert "segment  int" in bench.say("DESC Fast")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT sped FROM Traffic;", "SW-201"),
        ("SELEC speed FROM Traffic;", "SW-130"),
        ("SELECT speed FROM Trafic;", "SW-204"),
        ("CREATE STREAM Traffic (a INT) USING json;", "SW-207"),
        ("SHOW TABLES;", "SW-409"),
        ("DESCRIBE Trafic;", "SW-464"),
        ("\\lat", "SW-490"),
        ("\\drop Trafic", "SW-464"),
        ("\\read /no/such/file.sql", "SW-401"),
        ("SELECT '日本', ts FROM Traffic WHERE;", "SW-101"),
    ],
)
def test_a_mistake_costs_its_statement_alone(bench: Bench, text: str, code: str):
    before = bench.bench.declared
    with pytest.raises(SlackwaterError) as caught:
        bench.say(text)
    assert caught.value.code == code
    assert bench.bench.declared == before


def test_statements_before_a_mistake_hold(bench: Bench):
    with pytest.raises(SlackwaterError):
        bench.say("CREATE SINK a USING console; CREATE SINK a USING console; CREATE SINK b USING console;")
    assert [each.name for each in bench.bench.declared.sinks] == ["a"]


def test_what_is_dropped_can_be_declared_again(bench: Bench, tmp_path):
    bench.say("CREATE VIEW Fast AS SELECT segment FROM Traffic;")
    with pytest.raises(SlackwaterError, match="the view 'Fast' reads 'Traffic'"):
        bench.say("\\drop Traffic")
    bench.say("\\drop fast")
    bench.say("\\drop TRAFFIC;")
    bench.say(STREAM.format(tmp_path))


def test_a_file_is_read_and_does_not_read_on(bench: Bench, tmp_path):
    file = tmp_path / "more.sql"
    file.write_text("CREATE SINK a USING console;\nCREATE SINK b USING console")
    assert bench.say(f"\\read {file}") == "sink a\nsink b\n"
    file.write_text(f"\\read {file}")
    with pytest.raises(SlackwaterError):
        bench.say(f"\\read {file}")


def test_explain_needs_no_query_to_run(bench: Bench):
    assert "Window" in bench.say("EXPLAIN SELECT MAX(speed) FROM Traffic [RANGE 5 seconds];")


def test_before_any_query_there_is_nothing_to_account_for(bench: Bench):
    assert bench.say("\\account") == "no query has run yet\n"
    assert bench.say("\\late") == "no query has run that could have late rows\n"
    assert "\\late" in bench.say("help")
    assert bench.say("") == bench.say(" ;; ") == ""
    for text in ("\\quit", "exit", "\\exit"):
        with pytest.raises(Quit):
            bench.say(text)


def test_that_spark_does_not_start_is_said_for_each_query_and_ends_nothing(tmp_path):
    def fail() -> None:
        raise RunError("SW-500", "Spark did not start: no Java")

    bench = Bench(tmp_path, fail)
    bench.say(STREAM.format(tmp_path))
    for _ in range(2):
        with pytest.raises(RunError, match="no Java"):
            bench.say("SELECT speed FROM Traffic;")
    assert "Traffic" in bench.say("SHOW STREAMS;")


@pytest.mark.parametrize("at_once", [True, False])
def test_what_is_slow_starts_once_at_once_or_when_it_is_needed(at_once: bool):
    started: list[str] = []
    backstage = Backstage(lambda: started.append("spark"), at_once=at_once)
    if at_once:
        backstage.thread.join()
    assert started == ["spark"] * at_once
    for _ in range(2):
        backstage.wait(Console(file=StringIO()))
    assert started == ["spark"]


@pytest.mark.parametrize(
    ("text", "statements", "rest"),
    [
        ("", [], ""),
        (";;", [], ""),
        ("a; b", ["a;"], "b"),
        ("a ';' b; \"x;\" `y;`;", ["a ';' b;", '"x;" `y;`;'], ""),
        ("a -- ;\n; b", ["a -- ;\n;"], "b"),
        ("a /* ; */;", ["a /* ; */;"], ""),
        ("a 'it''s;'; b 'open;", ["a 'it''s;';"], "b 'open;"),
        ("/* open ;", [], "/* open ;"),
    ],
)
def test_statements_end_at_semicolons_outside_of_texts_and_comments(text, statements, rest):
    assert split_statements(text) == (statements, rest)
    assert is_complete(text) == (not rest)


CATALOG = parse_script(
    "CREATE STREAM Traffic (segment INT, speed DOUBLE, ts TIMESTAMP) USING json TIMESTAMP BY ts;"
    "CREATE STREAM Tolls (price INT, at TIMESTAMP) USING json TIMESTAMP BY at;"
    "CREATE VIEW Totals AS SELECT price + 1 AS more FROM Tolls; CREATE SINK target USING console;"
).catalog


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["CREATE", "DESCRIBE", "EXPLAIN", "INSERT INTO", "SELECT", "SET", "SHOW"]),
        ("SELECT * FROM T", ["Tolls", "Totals", "Traffic"]),
        ("SELECT * FROM traf", ["Traffic"]),
        ("SELECT 1; INSERT INTO ", ["target"]),
        ("DESCRIBE T", ["target", "Tolls", "Totals", "Traffic"]),
        ("SHOW ", ["SINKS", "STREAMS", "VIEWS"]),
        ("CREATE S", ["SINK", "STREAM"]),
        ("SELECT sp", ["speed"]),
        ("SELECT more, pr", ["price"]),
        ("SELECT x FROM Totals WHERE m", ["MAX(", "MAX_BY(", "MIN(", "MIN_BY(", "more"]),
        ("SELECT x FROM Traffic GROUP BY s", ["segment", "speed"]),
        ("SELECT x FROM Traffic [RANGE 5 SEC", ["SECONDS"]),
        ("SELECT x FROM Traffic [RANGE 5 SECONDS S", ["SKEW", "SLACK", "SLIDE"]),
        ("SELECT x FROM Traffic [WATTR ", ["ts"]),
        ("SELECT x FROM Traffic [DRATIO 1% USING bud", ["budget"]),
        ("CREATE SINK s USING par", ["parquet"]),
        ("\\la", ["\\late"]),
        ("\\drop tra", ["Traffic"]),
        ("SELECT 'a", []),
    ],
)
def test_completion_knows_the_catalog_and_the_place(text: str, words: list[str]):
    length, found = complete(text, CATALOG)
    assert found == words
    assert text.lower().endswith(text[len(text) - length :].lower())


def test_completion_knows_every_sink_of_our_own():
    assert set(OWN_FORMATS) <= set(FORMATS)


def test_completion_of_nothing_declared():
    assert complete("SELECT * FROM ", Catalog()) == (0, [])


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("CREATE SINK s USING postgres OPTIONS (host 'db', password 'tide');", True),
        ("CREATE SINK s USING postgres OPTIONS (url 'postgres://u:tide@db/x');", True),
        ("SET spark.hadoop.fs.s3a.secret.key = tide;", True),
        ("CREATE SINK s USING postgres OPTIONS (password_env 'PGPASSWORD');", False),
        ("SELECT password FROM Users WHERE id = 5;", False),
    ],
)
def test_statements_with_secrets_are_known(text: str, secret: bool):
    assert holds_secret(text) is secret
