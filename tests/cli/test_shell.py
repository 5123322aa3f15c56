"""`slackwater shell` from a pipe, and `run -c`: what is refused before Spark starts."""

# ruff: noqa: S608 (statements are put together from texts)

import io

import pytest

from slackwater.app.shell import backstage

STREAM = "CREATE STREAM S (a INT, ts TIMESTAMP) USING json TIMESTAMP BY ts;"


@pytest.fixture
def piped(slackwater, monkeypatch):
    monkeypatch.setattr(backstage, "spark_session", lambda: None)

    def call(text: str, *words: object):
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        return slackwater("shell", *words)

    return call


def test_statements_from_a_pipe(piped, tmp_path):
    file = tmp_path / "streams.sql"
    file.write_text(STREAM + " SELECT a FROM S;")
    shown = piped("SHOW STREAMS", file, "--declare")
    assert shown.returncode == 0
    assert "a int, ts timestamp" in shown.stdout
    for nothing in ("", " \n", "-- a comment", ";"):
        assert piped(nothing).returncode == 0
    assert "no views yet" in piped("-- a comment\nSHOW VIEWS; -- the end").stdout


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("SELECT a FORM S", "'FROM' instead of 'FORM'"),
        ("SELECT a FROM S WERE a > 1", "'WHERE' instead of 'WERE'"),
        ("SELECT a FROM S GRUOP BY a", "'GROUP' instead of 'GRUOP'"),
        ("SELECT a FROM S GROUP BY a EMITT CHANGES", "'EMIT'"),
        ("INSERT INTO s SELCT a FROM S", "'SELECT'"),
        ("SELECT a FROM S EMITT CHANGES", "'EMIT' instead of 'EMITT'"),
        ("SELECT a FROM S UNOIN ALL SELECT a FROM S", "'UNION' instead of 'UNOIN'"),
        ("SELECT a FROM S [FREQUENCY 2 TUPLES PARTITOINED BY a]", "'PARTITIONED BY'"),
        ("SHW STREAMS", "'SHOW'"),
        ("DESCRBE S", "'DESCRIBE'"),
        ("SHOW STREMS", "'streams'"),
    ],
)
def test_a_typo_is_answered_with_the_word_that_was_meant(piped, text, meant):
    shown = piped(f"{STREAM} {text};")
    assert shown.returncode == 2
    assert f"did you mean {meant}?" in shown.stderr


def test_a_line_that_begins_with_a_backslash_is_a_command(piped):
    text = f"{STREAM}\nSHOW STREAMS;\n\\help\n  \\account\nSHOW VIEWS\n\\drop S;\nSHOW STREAMS;\n\\quit\nSELEC;"
    shown = piped(text)
    assert shown.returncode == 0, shown.stderr
    told = ["a int, ts timestamp", "\\late  ", "no query has run yet", "no views yet", "no streams yet"]
    places = [shown.stdout.find(each) for each in told]
    assert -1 not in places and places == sorted(places)
    assert piped("CREATE SINK k USING json OPTIONS (path 'a\n\\\\help');").returncode == 0


def test_the_first_mistake_ends_a_pipe_with_2(piped):
    shown = piped(f"{STREAM} SELEC; CREATE SINK k USING console;")
    assert shown.returncode == 2
    assert shown.stderr.startswith("SW-130")
    assert "sink k" not in shown.stdout


@pytest.mark.parametrize("words", [(), ("file.sql", "-c", "SELECT 1")])
def test_run_takes_a_file_or_a_text(slackwater, words):
    shown = slackwater("run", *words)
    assert shown.returncode == 2
    assert shown.stderr.startswith("SW-427")


def test_a_mistake_in_a_text_has_its_place(slackwater):
    shown = slackwater("run", "-c", STREAM + " SELECT b FROM S")
    assert shown.returncode == 2
    assert "at -c:1:" in shown.stderr
