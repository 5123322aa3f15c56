"""A fused pipeline that is killed in the middle of a batch and resumed answers as one that was not."""

import pytest
from tests.spark import test_exactly_once as once

STREAM = """
CREATE STREAM Traffic (vehID INT, segment INT, speed DOUBLE, timestamp TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (rate '200', rows '1000', pace 'max', batch '1 second', mean '0.5 seconds', seed '11')
TIMESTAMP BY timestamp ARRIVAL BY received;
CREATE SINK out USING parquet OPTIONS (path '{sink}');
INSERT INTO out
"""
QUERIES = {
    "nested": """
        SELECT segment, AVG(n) AS mean, row_time FROM
        (SELECT segment, COUNT(*) AS n [FREQUENCY 3 TUPLES PARTITIONED BY segment]
         FROM Traffic [RANGE 1 second, DRATIO 5% USING adaptive] GROUP BY segment) AS P
        [RANGE 2 seconds, FREQUENCY 1 TUPLE] GROUP BY segment;""",
    "mixed": """
        SELECT segment, SUM(speed) AS total, window_end
        FROM Traffic [RANGE 10 TUPLES, FREQUENCY 500 milliseconds PARTITIONED BY segment, DRATIO 5% USING adaptive]
        GROUP BY segment;""",
}


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", QUERIES)
def test_a_killed_pipeline_resumes_to_the_identical_answer(spark, tmp_path, monkeypatch, kind):
    monkeypatch.setattr(once, "SCRIPT", STREAM + QUERIES[kind])
    once.test_a_killed_pipeline_resumes_to_the_identical_answer(spark, tmp_path)
