-- The highest value of the last 30 seconds, at every reading, while one link in eight is cut off again and again.
-- Look at `late` and `held`: the senders are named, so the query may wait for those that are cut off, if that is worth it.
-- At the end the account tells what became of every row, and how many were lost.

CREATE STREAM Sensors (sensor INT, value DOUBLE, timestamp TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (
    stream 'sensors', rate '100', senders '40', delay 'pareto', mean '0.5 seconds',
    outage '2 seconds', outage_every '15 seconds', seed '2'
)
TIMESTAMP BY timestamp
ARRIVAL BY received
SOURCE BY sensor;

CREATE SINK highest USING console;

INSERT INTO highest
SELECT sensor, MAX(value) AS top
FROM Sensors [RANGE 30 seconds, DRATIO 1%]
GROUP BY sensor;
