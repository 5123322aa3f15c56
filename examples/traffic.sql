-- The fastest vehicle on each road segment over the last five seconds, every second.
-- Reports arrive out of order (exponential delays); at most 1% of them may come too late.

CREATE STREAM Traffic (
    vehID INT, segment INT, speed DOUBLE, timestamp TIMESTAMP, received TIMESTAMP
)
USING generate OPTIONS (stream 'vehicles', rate '2000', delay 'exponential', mean '0.4 seconds', seed '7')
TIMESTAMP BY timestamp
ARRIVAL BY received;

CREATE SINK fastest USING console;

INSERT INTO fastest
SELECT segment, MAX(speed) AS top, window_end
FROM Traffic [RANGE 5 seconds SLIDE 1 second WATTR timestamp DRATIO 1%]
GROUP BY segment;
