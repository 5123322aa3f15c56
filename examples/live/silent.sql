-- Sensors that stopped reporting: heard in the last minute, but not in the last 5 seconds.
--
-- A sensor comes into the table when its latest report leaves the short window, goes as soon as it reports again, and is
-- forgotten when its latest report leaves the long one. Here one link in eight is cut for 20 seconds in every minute.
--
--     SELECT count(*) FROM silent;

CREATE STREAM Sensors (sensor INT, value DOUBLE, timestamp TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (
    stream 'sensors', rate '200', senders '80', mean '0.2 seconds', outage '20 seconds', outage_every '1 minute', seed '4'
)
TIMESTAMP BY timestamp
ARRIVAL BY received;

CREATE SINK silent USING postgres;

INSERT INTO silent
SELECT DISTINCT sensor FROM Sensors [RANGE 60 seconds DRATIO 1%]
EXCEPT
SELECT DISTINCT sensor FROM Sensors [RANGE 5 seconds DRATIO 1%]
EMIT CHANGES;
