-- The fastest vehicle on each road segment, over a stream whose delays change while it runs.
-- Look at `late`: after 14 seconds reports take three times as long for 8 seconds, and the late share rises.
-- Then look at `hold`: the controller waits longer until at most 1% of all rows are late again.

CREATE STREAM Traffic (
    vehID INT, segment INT, speed DOUBLE, timestamp TIMESTAMP, received TIMESTAMP
)
USING generate OPTIONS (
    stream 'vehicles', rate '1500', senders '400', delay 'exponential', mean '0.3 seconds', seed '7',
    slow '3', slow_from '14 seconds', slow_for '8 seconds', outage '2 seconds', outage_every '62 seconds'
)
TIMESTAMP BY timestamp
ARRIVAL BY received;

CREATE SINK fastest USING console;

INSERT INTO fastest
SELECT segment, MAX(speed) AS top, window_end
FROM Traffic [RANGE 5 seconds SLIDE 1 second DRATIO 1%]
GROUP BY segment;
