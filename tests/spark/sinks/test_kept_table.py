"""A changelog into a real server: whatever happens to the driver, the table has the rows that the query has."""

from pathlib import Path

import pytest
from tests.faults.pipelines import ROWS, STREAM, finish, spawn, strike, wait_until

QUERY = """
CREATE SINK {name} USING postgres OPTIONS ({options});
INSERT INTO {name} SELECT segment, COUNT(*) AS n, MAX(speed) AS top FROM Traffic [SLACK 5000] GROUP BY segment
EMIT CHANGES;
"""
LIVE = """
CREATE SINK {name} USING postgres OPTIONS ({options});
INSERT INTO {name} SELECT segment, COUNT(*) AS n, AVG(speed) AS mean FROM Traffic [RANGE 3 seconds DRATIO 5%]
GROUP BY segment EMIT CHANGES;
"""


def killed_in_the_middle(folder: Path, text: str, name: str) -> None:
    check = folder / "check" / name
    process = spawn(folder, text, "--no-flush")
    wait_until((check / "offsets" / "2").exists, process)
    strike(process)
    assert (check / "commits" / "0").exists()
    assert not (check / "commits" / "2").exists(), "the kill came too late to be in mid-batch"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_table_that_was_interrupted_is_the_table_that_was_not(spark, database, tmp_path):
    texts = {
        name: STREAM + query.format(name=name, options=database.clause)
        for name, query in (("spared", QUERY), ("struck", QUERY))
    }
    killed_in_the_middle(tmp_path / "struck", texts["struck"], "struck")
    for name, text in texts.items():
        (tmp_path / name).mkdir(exist_ok=True)
        finish(tmp_path / name, text)
    tables = [sorted(row[:3] for row in database.rows(f"TABLE {name}")) for name in texts]
    assert tables[0] == tables[1]
    assert sum(n for _, n, _ in tables[0]) == ROWS


def test_a_table_has_what_lives_and_nothing_else(spark, database, tmp_path):
    """When all windows are flushed nothing lives; before, every row of the table has its end to come."""
    text = STREAM + LIVE.format(name="living", options=database.clause)
    finish(tmp_path, text, flush=False)
    assert database.rows("SELECT count(*) > 3, bool_and(_valid_to > _valid_from), bool_and(n > 0) FROM living") == [
        (True, True, True)
    ]
    finish(tmp_path, text)
    assert database.rows("SELECT * FROM living") == []
