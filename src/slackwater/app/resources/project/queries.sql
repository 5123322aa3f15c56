-- The mean of each sensor, every 10 seconds of event time. At most 1% of the rows may come too late.
-- ${DATA} is a folder of JSON files, each of which is one batch; ${LATE} is where late rows go. The Makefile sets both.

CREATE STREAM Readings (sensor INT, value DOUBLE, ts TIMESTAMP, received TIMESTAMP)
USING json OPTIONS (path '${DATA}', maxFilesPerTrigger '1')
TIMESTAMP BY ts          -- when it was measured
ARRIVAL BY received      -- when it got here
SOURCE BY sensor;        -- who sent it

CREATE SINK means USING console;
CREATE SINK too_late USING parquet OPTIONS (path '${LATE}');

INSERT INTO means
SELECT sensor, COUNT(*) AS readings, AVG(value) AS mean, window_end
FROM Readings [RANGE 10 seconds SLIDE 10 seconds DRATIO 1%]
GROUP BY sensor;

-- Rows that came behind the watermark, as rows, to find out who sends them.
INSERT INTO too_late
SELECT * FROM means$late;
