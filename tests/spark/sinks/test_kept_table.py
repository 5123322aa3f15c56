"""A changelog into a real server: whatever happens to the driver, the table has the rows that the query has."""

from pathlib import Path

import pytest
from tests.faults.pipelines import ROWS, STREAM, finish, spawn, strike, wait_until

QUERY = """
CREATE SINK {name} USING postgres OPTIONS ({options});
INSERT INTO {name} SELECT segment, COUNT(*) AS n, MAX(speed) AS top FROM Traffic [SLACK 5000] GROUP BY segment
EMIT CHANGES;
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
    tables = [sorted(database.rows(f"SELECT segment, n, top FROM {name}")) for name in texts]  # noqa: S608
    assert tables[0] == tables[1]
    assert sum(n for _, n, _ in tables[0]) == ROWS
