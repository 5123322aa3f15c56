"""The past of a pipeline: bounded, and no row is lost by thinning."""

from tests.dashboard.records import records

from slackwater.app.monitor.history import COLUMNS, PARTS, History, spark_line


def test_days_of_batches_take_no_more_memory_than_an_hour_and_lose_no_row():
    history = History()
    for batch in range(20_000):
        history.enter({"at": 1_000 * batch, "rows_in": 10, "late": 1, "seconds": 0.2})
    assert len(history) <= history.recent + history.older
    assert {len(values) for values in history.columns.values()} == {len(history)}
    assert history.total("rows_in") == 200_000 and history.total("late") == 20_000
    at = history.columns["at"]
    assert at == sorted(at) and at[0] < 20_000_000 / 4, "the beginning of the run is still there"
    assert at[-600:] == [1_000.0 * batch for batch in range(19_400, 20_000)], "recent batches are all there"


def test_a_slow_batch_is_still_seen_when_its_neighbour_is_dropped():
    history = History(recent=2, older=2)
    for batch in range(40):
        history.enter({"at": 1_000 * batch, "seconds": 9.0 if batch == 3 else 0.1, "parts": {"addBatch": 100}})
    assert max(history.columns["seconds"][:-2]) == 9.0


def test_a_point_has_rates_shares_of_the_last_minute_and_times_behind_the_clock():
    history = History()
    said = list(records(batches=100))
    for each in said:
        history.enter(each)
    minute = said[-60:]
    assert history.columns["ratio_minute"][-1] == sum(each["late"] for each in minute) / sum(
        each["rows_in"] for each in minute
    )
    assert history.rate("rows_in") == 200.0 and history.rates("rows_in") == [200.0] * 100
    assert history.columns["lag"][-1] == (said[-1]["clock"] - said[-1]["punctuation"]) / 1_000
    assert sum(history.columns[name][-1] for name in PARTS) == 0.375


def test_a_pipeline_that_starts_again_goes_on_and_time_never_runs_back():
    history = History()
    for each in (*records(batches=5), *records(batches=5, start=0)):
        history.enter(each)
    assert history.total("rows_out") == 70
    assert history.columns["at"] == sorted(history.columns["at"])


def test_a_record_of_another_version_lacks_fields_and_is_shown_all_the_same():
    history = History()
    history.enter({"at": 5})
    assert all(len(history.columns[name]) == 1 for name in COLUMNS)
    assert history.rate("rows_in") == 0.0 and history.rates("rows_in") == [0.0] and spark_line([], 5) == []
