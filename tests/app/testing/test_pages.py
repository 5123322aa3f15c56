"""Pages of cases: what passes, what is said about the others, and what an update writes."""
# ruff: noqa: S608 (cases are put together from texts)

from pathlib import Path

import pytest

from slackwater.app.testing.engine import Engine
from slackwater.app.testing.page import Page, load_page, read_page
from slackwater.app.testing.run import Outcome, run_page
from slackwater.app.testing.update import check_updating, fill_in_tables, update_page
from slackwater.errors import InputError, SlackwaterError

DECLARED = """\
```sql
CREATE STREAM Traffic (segment INT, speed DOUBLE, note STRING, ts TIMESTAMP) USING json TIMESTAMP BY ts;
CREATE STREAM Tolls (v INT, ts TIMESTAMP) USING json TIMESTAMP BY ts;
CREATE SINK fast USING console;
INSERT INTO fast SELECT segment FROM Traffic WHERE speed > 80;
```
"""
QUERY = "SELECT segment FROM Traffic"
INPUT = "Traffic | ts | segment\n0       | 1  | 7\nflush"


def page(*cases: str) -> Page:
    blocks = [f"## case {number}\n\n```example\n{case}\n```\n" for number, case in enumerate(cases, start=1)]
    return read_page("\n".join([DECLARED, *blocks]), Path("page.md"))


def outcome(case: str) -> Outcome:
    (found,) = run_page(page(case))
    return found


def told(case: str) -> str:
    """Return the error message of a case that cannot be read or run."""
    error = outcome(case).error
    assert error is not None
    return str(error)


def test_a_case_passes_or_shows_what_differs():
    case = """\
SELECT segment, MAX(speed) AS top FROM Traffic [RANGE 1 minute SLIDE 1 minute] GROUP BY segment

Traffic | ts       | segment | speed
0       | 09:00:10 | 1       | 50
0       | 09:00:25 | 2       | 70
0 ends, P = 09:01:00
1       | 09:00:59 | 1       | 55
flush

result | time      | segment | top
1      | 09:01:00- | 1       | {top}
1      | 09:01:00- | 2       | 70
{late}"""
    late = "\nlate   | ts       | segment | late_by | missed\n1      | 09:00:59 | 1       | 1       | 0"
    assert outcome(case.format(top="55", late=late)).passed
    failed = outcome(case.format(top="50", late=""))
    assert not failed.passed
    assert (
        failed.report().plain
        == """\
result: 1 row not as expected
    result | time      | segment | top
  - 1      | 09:01:00- | 1       | 50.0
  + 1      | 09:01:00- | 1       | 55.0
                                   ^^^^
    1      | 09:01:00- | 2       | 70.0

late: 1 row not expected
    late   | segment | speed | note | ts       | late_by | missed
  + 1      | 1       | 55.0  | -    | 09:00:59 | 1       | 0

- expected, + found"""
    )


@pytest.mark.parametrize(
    ("expected", "headline"),
    [
        ("result | segment\n1 | 7\n1 | 8", "result: 1 row not found"),
        ("result | segment\n2 | 7", "result: 1 row not as expected"),
        ("result | segment\n1 | 8\n1 | 7\n1 | 9", "result: 2 rows not found"),
        ("result | segment", "result: 1 row not expected"),
        ("late | ts\n0 | 1", "late: 1 row not found"),
    ],
)
def test_a_difference_begins_with_a_headline(expected: str, headline: str):
    assert headline in outcome(f"{QUERY}\n\n{INPUT}\n\n{expected}").report().plain


def test_the_order_of_rows_counts():
    rows = "Traffic | ts | segment\n0 | 2 | 2\n0 | 1 | 1\nflush"
    assert outcome(f"{QUERY}\n\n{rows}\n\nresult | segment\n1 | 1\n1 | 2").passed
    failed = outcome(f"{QUERY}\n\n{rows}\n\nresult | segment\n1 | 2\n1 | 1")
    assert failed.report().plain.startswith("result: the rows are right, their order is not")


def test_a_table_that_is_not_shown_must_be_empty():
    assert not outcome(f"{QUERY}\n\n{INPUT}").passed
    assert outcome("SELECT segment FROM Traffic WHERE segment > 9\n\n" + INPUT).passed
    assert outcome(f"SELECT segment FROM Traffic WHERE segment > 9\n\n{INPUT}\n\nresult | segment").passed


def test_a_case_can_be_a_query_of_the_declarations():
    case = "INSERT INTO FAST;\n\nTraffic | ts | segment | speed\n0 | 1 | 7 | 90\n0 | 2 | 8 | 70\nflush\n\n"
    assert outcome(f"{case}result | segment\n1 | 7").passed
    assert not outcome(f"{case}result | segment\n1 | 8").passed


def test_a_page_names_the_files_of_its_queries(tmp_path):
    (tmp_path / "traffic.sql").write_text(
        "CREATE STREAM Cars (id INT, ts TIMESTAMP) USING ${FORMAT} TIMESTAMP BY ts;\nCREATE SINK out USING console;\n"
        "INSERT INTO out SELECT id + 1 AS next FROM Cars;"
    )
    file = tmp_path / "cases.md"
    file.write_text(
        "```text\nQueries: [other.sql](other.sql)\n```\nQueries: [traffic.sql](traffic.sql)\n\n"
        "```example\nINSERT INTO out\n\n"
        "Cars | ts | id\n0 | 1 | 4\nflush\n\nresult | next\n1 | 5\n```\n"
    )
    (found,) = run_page(load_page(file, ["FORMAT=json"]))
    assert found.passed, found.report().plain
    assert found.block.title == "line 6"


def test_times_are_written_as_the_input_writes_them():
    case = "SELECT segment, ts FROM Traffic\n\nTraffic | ts | segment\n0 | {} | 7\nflush"
    shown = {"12.5": "12.5", "08:30": "08:30:00", "2024-05-01 08:30": "2024-05-01 08:30:00"}
    for given, written in shown.items():
        assert f"| {written} | 7       | {written}" in outcome(case.format(given)).report().plain


def test_names_are_found_without_regard_to_case():
    assert outcome(
        "SELECT segment FROM traffic\n\nTRAFFIC | TS | Segment\n0 | 1 | 7\nflush\n\nRESULT | SEGMENT\n1 | 7"
    ).passed


def test_late_rows_of_several_streams_have_a_table_each():
    case = """\
SELECT A.segment, B.v FROM Traffic A [RANGE 5 seconds SLIDE 5 seconds], Tolls B [RANGE 5 seconds SLIDE 5 seconds]

Traffic | ts | segment
0 ends, P = 5
1       | 4  | 1
1 ends, P = 9

Tolls  | ts | v
0      | 8  | 2
1 ends, P = 9
2 ends
"""
    assert outcome(case + "\nlate A | ts | segment | late_by | missed\n1 | 4 | 1 | 1 | 0").passed
    assert "late A: 1 row not expected" in outcome(case).report().plain


@pytest.mark.parametrize(
    ("case", "code", "words"),
    [
        ("", "SW-477", "page.md:10:1"),
        (QUERY, "SW-477", "a table of Traffic"),
        (f"{QUERY}\n\nTrafic | ts\n0 | 1", "SW-466", "did you mean 'Traffic'?"),
        (f"{QUERY}\n\n{INPUT}\n\nTolls | ts\n0 | 1", "SW-466", "the query does not read 'Tolls'"),
        (f"{QUERY}\n\n{INPUT}\n\n{INPUT}", "SW-466", "given twice"),
        (f"{QUERY}\n\n{INPUT}\n\nchanges | segment", "SW-466", "a query without EMIT CHANGES has the table result"),
        (f"{QUERY} EMIT CHANGES\n\n{INPUT}\n\nresult | segment", "SW-466", "its answer is the table changes"),
        (f"{QUERY}\n\nTraffic | ts | segment\n0 | 1 | x", "SW-484", "     ^\n"),
        (f"{QUERY}\n\nTraffic | ts | segment\n0 | 1 |", "SW-484", "the cell is empty"),
        (f"{QUERY}\n\nTraffic | ts | segment\n0 | 1", "SW-472", "the row has 2 cells, its table has 3 columns"),
        (f"{QUERY}\n\nTraffic | ts | segment\n0 end", "SW-471", "'0 end' is not the number of a batch"),
        (f"{QUERY}\n\nTraffic | ts\n0 ends, P = soon", "SW-484", "page.md:14:13"),
        (f"{QUERY}\n\nTraffic | ts\n0 ends, P = -", "SW-484", "write '0 ends' alone"),
        (f"{QUERY}\n\nTraffic | ts\n1 | 1\n0 | 1", "SW-473", "batch 0 comes here after batch 1 began"),
        (f"{QUERY}\n\nTraffic | ts\n0 | 1\n0 ends\n0 | 1", "SW-473", "batch 0 comes here after batch 1 began"),
        (f"{QUERY}\n\nTraffic | ts\n999999999 | 1", "SW-473", "too large"),
        (f"{QUERY}\n\nTraffic | ts | ts\n0 | 1 | 1", "SW-474", "'ts' stands twice"),
        (f"{QUERY}\n\nTraffic | ts | \n0 | 1 | 1", "SW-474", "a column has no name"),
        (f"{QUERY}\n\nTraffic | ts | segmnt\n0 | 1 | 1", "SW-468", "did you mean 'segment'?"),
        (f"{QUERY}\n\n{INPUT}\n\nresult | sgment", "SW-468", "did you mean 'segment'?"),
        (f"{QUERY}\n\n{INPUT}\n\nresult | segment\n0 ends", "SW-469", "rows alone"),
        (f"{QUERY}\n\nTraffic | segment\n0 | 1", "SW-467", "no column 'ts', the event time"),
        (f'{QUERY}\n\nTraffic | ts | note\n0 | 1 | "a', "SW-475", "is not closed"),
        ("INSERT INTO fst\n\n" + INPUT, "SW-479", "did you mean 'fast'?"),
        (f"{QUERY}; {QUERY}\n\n{INPUT}", "SW-478", "one query"),
        (f"EXPLAIN {QUERY}\n\n{INPUT}", "SW-478", "one query"),
        (f"SELECT sgment FROM Traffic\n\n{INPUT}", "SW-201", "page.md:11:8"),
        (f"SELECT segment FROM Trafic\n\n{INPUT}", "SW-204", "did you mean 'Traffic'?"),
        (f"SELECT segment FROM Traffic [RANGE 5]\n\n{INPUT}", "SW-110", "page.md:11"),
        (f"SELECT segment / 0 AS x FROM Traffic\n\n{INPUT}", "SW-580", "division by zero"),
        (f"SELECT HEX(segment) AS x FROM Traffic\n\n{INPUT}", "SW-240", "run the case on Spark"),
    ],
)
def test_a_mistake_is_told_with_its_place(case: str, code: str, words: str):
    message = told(case)
    assert message.startswith(code)
    assert words in message


def test_a_query_that_is_nested_too_deeply_is_told():
    deep = "(" * 2_000 + "segment" + " + 1)" * 2_000
    assert told(f"SELECT {deep} AS x FROM Traffic\n\n{INPUT}").startswith("SW-102")


def test_one_mistake_does_not_keep_other_cases_from_running():
    right = f"{QUERY}\n\n{INPUT}\n\nresult | segment\n1 | 7"
    assert [each.passed for each in run_page(page("SELEC", right))] == [False, True]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "SW-470"),
        ("# nothing\n", "SW-470"),
        ("```example\nSELECT 1\n", "SW-476"),
        ("```sql\nCREATE STREAM T (a INTT) USING json;\n```\n```example\n```\n", "SW-203"),
        ("Queries: [no.sql](no.sql)\n```example\n```\n", "SW-401"),
    ],
)
def test_a_page_that_cannot_be_read(tmp_path, text: str, code: str):
    file = tmp_path / "cases.md"
    file.write_text(text)
    with pytest.raises(SlackwaterError) as caught:
        load_page(file)
    assert caught.value.code == code


def test_a_mistake_in_a_declaration_has_its_line_in_the_page():
    with pytest.raises(SlackwaterError) as caught:
        read_page("# title\n\n```sql\nCREATE STREAM T (a INTT) USING json;\n```\n```example\n```\n", Path("page.md"))
    assert str(caught.value.place) == "page.md:4:20"


UPDATED = """\
# Speeds

{declared}
## Right, and written as its author likes

```example
SELECT segment FROM Traffic

Traffic|ts|segment
0|1|7
flush

result|segment
1|7
```

## Wrong

```example
SELECT note, speed / 3 AS third FROM Traffic

Traffic | ts | note | speed
0       | 2  | 日本 | 110
0 ends, P = 2
1       | 1  | -    | 1
flush

result | third | note
1      | 1     | 日本
```

## Not readable

```example
SELECT sgment FROM Traffic

Traffic | ts
```

The end.
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_update_writes_what_was_found_and_leaves_the_rest_alone(tmp_path, newline):
    file = tmp_path / "cases.md"
    text = UPDATED.format(declared=DECLARED)
    file.write_bytes(text.replace("\n", newline).encode())
    file.chmod(0o640)
    found = load_page(file)
    update_page(found, list(run_page(found)))
    expected = text.replace(
        "result | third | note\n1      | 1     | 日本\n",
        "result | third        | note\n1      | 0.333333...  | -\n2      | 36.666666... | 日本\n\n"
        "late   | segment | speed | note | ts | late_by | missed\n1      | -       | 1.0   | -    | 1  | 1       | 0\n",
    )
    assert file.read_bytes().decode().replace(newline, "\n") == expected
    assert (b"\r\n" in file.read_bytes()) == (newline == "\r\n")
    assert file.stat().st_mode & 0o777 == 0o640
    assert [each.passed for each in run_page(load_page(file))] == [True, True, False]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["cases.md"]


def test_an_update_of_what_is_right_changes_nothing():
    found = page(f"{QUERY}\n\n{INPUT}\n\nresult|segment\n1|7")
    assert fill_in_tables(found, run_page(found)) == found.text


def test_a_page_that_was_edited_meanwhile_is_not_overwritten(tmp_path):
    file = tmp_path / "cases.md"
    file.write_text(f"{DECLARED}\n```example\n{QUERY}\n\n{INPUT}\n```\n")
    found = load_page(file)
    outcomes = list(run_page(found))
    file.write_text("edited")
    with pytest.raises(InputError) as caught:
        update_page(found, outcomes)
    assert caught.value.code == "SW-486"
    assert file.read_text() == "edited"


def test_tables_of_spark_are_not_written():
    check_updating(Engine.INTERPRETER)
    with pytest.raises(InputError) as caught:
        check_updating(Engine.SPARK)
    assert caught.value.code == "SW-489"


def test_cases_are_chosen_by_their_titles():
    right = f"{QUERY}\n\n{INPUT}\n\nresult | segment\n1 | 7"
    assert [each.block.title for each in run_page(page(right, right), only="CASE 2")] == ["case 2"]
    with pytest.raises(InputError) as caught:
        list(run_page(page(right), only="nothing"))
    assert caught.value.code == "SW-488"
