-- The fastest vehicle on each road segment, over a stream whose delays change while it runs: `make demo` shows it live.
--
-- For 14 seconds all is calm: reports are 0.3 seconds under way on average. Then for 8 seconds they take three times as
-- long, and at second 31 one link of eight is cut for 2 seconds; its reports come in a burst when it is back. At most 1%
-- of the rows may be late, over the whole run: the controller sees the change, holds the punctuation back, wins back
-- what the surprise has cost, and lets go again.

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
