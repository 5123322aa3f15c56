-- The mean of each sensor, every 10 seconds of event time. At most 1% of the rows may come too late.
-- data/ has JSON files, each of which is one batch; late rows go to late/. Run the commands in the folder of this file.

CREATE STREAM Readings (sensor INT, value DOUBLE, ts TIMESTAMP, received TIMESTAMP)
USING json OPTIONS (path 'data', maxFilesPerTrigger '1')
TIMESTAMP BY ts          -- when it was measured
ARRIVAL BY received      -- when it got here
SOURCE BY sensor;        -- who sent it

CREATE SINK means USING console;
CREATE SINK too_late USING parquet OPTIONS (path 'late');

INSERT INTO means
SELECT sensor, COUNT(*) AS readings, AVG(value) AS mean, window_end
FROM Readings [RANGE 10 seconds SLIDE 10 seconds DRATIO 1%]
GROUP BY sensor;

-- Rows that came behind the watermark, as rows, to find out who sends them.
INSERT INTO too_late
SELECT * FROM means$late;
