"""Advice on recorded streams: the figures are those of the trace, in every format, and mistakes are told."""

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from matplotlib.figure import Figure

from slackwater.algebra.lengths import Length
from slackwater.app.advise import Advice, AdviseRequest, advise
from slackwater.app.advise_plot import _course, plot
from slackwater.disorder.replay.trace import timestamps
from slackwater.errors import InputError

pytestmark = pytest.mark.long

START = 1_700_000_000_000


def recorded(rows: int = 3_000, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return event and arrival times in ms: a row every 10 ms, with a mean delay of 100 ms."""
    generator = np.random.default_rng(seed)
    event = START + np.arange(rows) * 10
    arrival = event + generator.exponential(100, rows).astype(np.int64)
    order = np.argsort(arrival, kind="stable")
    return event[order], arrival[order]


def csv(event: np.ndarray, arrival: np.ndarray) -> str:
    return "ts,got\n" + "".join(f"{e},{a}\n" for e, a in zip(event, arrival, strict=True))


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    file = tmp_path / "trace.csv"
    file.write_text(csv(*recorded()))
    return file


def request(file: Path, **changes: object) -> AdviseRequest:
    return AdviseRequest(**{"path": file, "event": "ts", "arrival": "got", "batch": Length.parse("50 rows"), **changes})


def test_the_best_constant_is_the_one_that_brute_force_finds(trace: Path):
    event, _ = recorded()
    ends = np.append(np.arange(50, len(event), 50), len(event))
    newest = np.maximum.accumulate(event)[ends - 1]
    before = np.concatenate([[np.iinfo(np.int64).min], newest[:-1]])[np.repeat(np.arange(len(ends)), 50)]
    lateness = np.where(before == np.iinfo(np.int64).min, -1, before - event)
    smallest = next(delay for delay in range(2_000) if (lateness > delay).sum() <= 0.01 * len(event))
    assert advise(request(trace)).watermark_delay == pytest.approx(smallest / 1_000)


def test_every_estimator_and_yardstick_is_compared(trace: Path):
    found = advise(request(trace))
    names = {line.name for line in found.lines}
    assert {
        "adaptive",
        "periodic",
        "quantile",
        "two-max",
        "max-delay",
        "adhoc",
        "optimum",
        "best per interval",
    } <= names
    holds = {line.name: line.mean_hold for line in found.lines}
    assert holds["optimum"] <= holds["best per interval"] <= holds["best constant (clock)"]


def test_the_advice_says_what_holds_the_punctuation_at_the_end(trace: Path):
    found = advise(request(trace))
    assert re.fullmatch(r"at most [\d.]+% of the last [\d,]+ rows were later than 0\.\d+ s", found.holds)
    assert found.document()["holds"] == found.holds and found.holds in found._repr_html_()


def test_the_advice_says_who_sent_the_late_rows_and_when(tmp_path: Path):
    event, arrival = recorded()
    slow = np.arange(2_500, 2_540)
    event[slow] -= 20_000
    sender = np.where(np.isin(np.arange(len(event)), slow), "north", "south")
    table = {"ts": event, "got": arrival, "sender": sender}
    pa.parquet.write_table(pa.table(table), tmp_path / "trace.parquet")
    found = advise(request(tmp_path / "trace.parquet", source="sender"))
    assert re.match(r"\d+ rows are late with DRATIO 1%; sent 40 by north, ", found.late)
    assert re.search(r"\d+ came in one tenth of the recording, from 80% on", found.late)
    assert "half of them took 20" in found.late and found.document()["late"] == found.late in found._repr_html_()


@pytest.mark.parametrize("stated", [{"event": "", "arrival": ""}, {"arrival": ""}])
def test_columns_that_are_not_stated_are_listed(trace: Path, stated: dict[str, str]):
    with pytest.raises(InputError, match=r"SW-445.*which columns") as refused:
        advise(request(trace, **stated))
    assert refused.value.problem.hint == "known: got, ts"


def test_formats_and_units_give_the_same_advice(trace: Path, tmp_path: Path):
    event, arrival = recorded()
    table = pa.table(
        {"ts": pa.array(event * 1_000, pa.timestamp("us")), "got": pa.array(arrival * 1_000, pa.timestamp("us"))}
    )
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(trace.read_bytes()))
    iso = [f"{np.datetime64(int(t), 'ms')}Z" for t in event], [f"{np.datetime64(int(t), 'ms')}Z" for t in arrival]
    (tmp_path / "t.jsonl").write_text(
        "".join(json.dumps({"ts": e, "got": a}) + "\n" for e, a in zip(*iso, strict=True))
    )
    (tmp_path / "us.csv").write_text(csv(event * 1_000, arrival * 1_000))
    expected = advise(request(trace)).document()["lines"]
    for name in ("t.parquet", "t.csv.gz", "t.jsonl", "us.csv"):
        assert advise(request(tmp_path / name)).document()["lines"] == expected, name


def test_a_folder_is_read_as_spark_writes_it(trace: Path, tmp_path: Path):
    event, arrival = recorded()
    folder = tmp_path / "trace.parquet"
    for number, part in enumerate(np.array_split(np.arange(len(event)), 3)):
        place = folder / f"batch={number}"
        place.mkdir(parents=True)
        columns = {"ts": pa.array(event[part]), "got": pa.array(arrival[part])}
        pyarrow.parquet.write_table(pa.table(columns), place / f"part-{number}.snappy.parquet")
        (place / "_SUCCESS").touch()
        (place / f".part-{number}.snappy.parquet.crc").write_bytes(b"crc")
    (folder / "_spark_metadata").mkdir()
    (folder / "_spark_metadata" / "0").write_text("v1")
    assert advise(request(folder)).document()["lines"] == advise(request(trace)).document()["lines"]
    (tmp_path / "odd").mkdir()
    for name, got in (("a", "1700000000001"), ("b", "2023-11-14T22:13:20")):
        (tmp_path / "odd" / f"{name}.csv").write_text(f"ts,got\n1700000000000,{got}\n")
    with pytest.raises(InputError, match="SW-411"):
        advise(request(tmp_path / "odd"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="SW-446"):
        advise(request(tmp_path / "empty"))


def test_columns_that_cannot_be_the_clocks_are_doubted(trace: Path, tmp_path: Path):
    assert not advise(request(trace)).warning
    swapped = advise(request(trace, event="got", arrival="ts"))
    assert "of the rows arrive before they happened: are --event and --arrival swapped" in swapped.warning
    lines = trace.read_text().splitlines()
    file = tmp_path / "levels.csv"
    file.write_text("\n".join([f"{lines[0]},level", *(f"{each},{20 + i % 7}.5" for i, each in enumerate(lines[1:]))]))
    assert "100% of the rows arrive before they happened" in advise(request(file, arrival="level")).warning
    assert "more than a year after they happened" in advise(request(file, event="level")).warning


@pytest.fixture(scope="module")
def ahead(tmp_path_factory: pytest.TempPathFactory) -> tuple[Advice, Advice]:
    """Return advice on a stream in which 0.5% of the rows are stamped a day ahead, and on it without these rows."""
    folder = tmp_path_factory.mktemp("ahead")
    generator = np.random.default_rng(5)
    event = START + np.arange(6_000) * 40
    arrival = event + np.minimum(generator.pareto(1.6, 6_000) * 400, 60_000).astype(np.int64)
    order = np.argsort(arrival, kind="stable")
    event, arrival, bad = event[order], arrival[order], np.arange(6_000) % 200 == 100
    (folder / "ahead.csv").write_text(csv(event + 86_400_000 * bad, arrival))
    (folder / "without.csv").write_text(csv(event[~bad], arrival[~bad]))
    return advise(request(folder / "ahead.csv")), advise(request(folder / "without.csv"))


def test_suspect_rows_are_counted_and_in_no_figure(ahead: tuple[Advice, Advice]):
    found, expected = ahead
    assert found.suspect == 30
    assert "30 rows are suspect and left out: stamped more than 5 minutes after their arrival" in found.notes
    assert [line.mean_hold for line in found.lines] == [line.mean_hold for line in expected.lines]
    # Half a percent of rows that are held to the end of the recording are not within p99, but in every mean.
    assert all(line.mean_hold < line.p99_hold for line in found.lines if line.p99_hold is not None)
    assert found.batches.event.max() == expected.batches.event.max()
    document = found.document()
    assert (document["suspect"], document["watermark_delay_seconds"]) == (30, expected.watermark_delay)


def test_a_plain_watermark_is_said_to_break_on_suspect_rows(ahead: tuple[Advice, Advice]):
    found, expected = ahead
    assert found.plain_late_share > 0.9 and f"it would have lost {found.plain_late_share:.1%}" in found.sentence
    assert "Do not use a plain withWatermark here" in found.sentence and "withWatermark(..., " not in found.sentence
    assert expected.plain_late_share <= 0.01 and "withWatermark(..., " in expected.sentence


def test_unsorted_rows_are_sorted_with_a_note(trace: Path, tmp_path: Path):
    lines = trace.read_text().splitlines()
    shuffled = tmp_path / "shuffled.csv"
    order = np.random.default_rng(2).permutation(len(lines) - 1) + 1
    shuffled.write_text("\n".join([lines[0], *(lines[place] for place in order)]) + "\n")
    found = advise(request(shuffled))
    assert any("sorted" in note for note in found.notes)
    assert not advise(request(trace)).notes
    assert found.watermark_delay == pytest.approx(advise(request(trace)).watermark_delay, abs=0.05)


def test_rows_without_a_time_are_left_out_and_counted(trace: Path, tmp_path: Path):
    file = tmp_path / "gaps.csv"
    file.write_text(trace.read_text() + ",1700000099999\n1700000099999,\n")
    assert "2 rows without an event or arrival time are left out" in advise(request(file)).notes


@pytest.mark.parametrize(
    ("content", "changes", "code"),
    [
        (None, {}, "SW-401"),
        ("ts,got\n", {}, "SW-412"),
        ("ts,got\n1700000000000,1700000000001\n", {}, "SW-412"),
        ("", {}, "SW-411"),
        ("ts,got\n1,2\n3\n", {}, "SW-411"),
        ("when,got\n1,2\n3,4\n", {}, "SW-445"),
        ("ts,got\n1,2\n3,4\n", {"source": "sender"}, "SW-445"),
        ("ts,got\n1,2\n3,4\n", {"dratio": 0.0}, "SW-413"),
        ("ts,got,ts\n1,2,3\n3,4,5\n", {}, "SW-445"),
        ("ts,got\ntrue,2\nfalse,4\n", {}, "SW-461"),
        ("ts,got\n12:30:00,2\n12:31:00,4\n", {}, "SW-461"),
        ("ts,got,größe\n1,2,3\n3,4,5\n", {}, "SW-411"),
    ],
)
def test_what_is_wrong_is_told(content: str | None, changes: dict[str, object], code: str, tmp_path: Path):
    file = tmp_path / "trace.csv"
    if content is not None:
        file.write_text(content, encoding="latin-1")
    with pytest.raises(InputError) as caught:
        advise(request(file, **changes))
    assert caught.value.code == code


def test_a_column_is_found_as_it_is_written_before_capitals_are_passed_over(trace: Path, tmp_path: Path):
    other = tmp_path / "other.csv"
    event, arrival = recorded()
    other.write_text("TS,ts,got\n" + "".join(f"{a},{e},{a}\n" for e, a in zip(event, arrival, strict=True)))
    found, expected = advise(request(other)), advise(request(trace))
    assert [line.mean_hold for line in found.lines] == [line.mean_hold for line in expected.lines]


def test_a_year_among_dates_is_a_date():
    given = pa.chunked_array([pa.array(["2024-03-01T00:00:00", "2024", "x", "2024-03-01T00:00:01"])])
    assert [each and each.year for each in timestamps(given, "auto").to_pylist()] == [2024, 2024, None, 2024]


def test_the_plot_is_a_picture(trace: Path, tmp_path: Path):
    plot(advise(request(trace)), tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_the_plot_shows_the_rows_that_are_not_suspect(ahead: tuple[Advice, Advice]):
    axes = Figure().subplots()
    _course(axes, ahead[0])
    low, high = axes.get_ylim()
    assert -100 < low < high < 10  # not the 86,400 s of the rows a day ahead
