-- Sensors that stopped reporting: heard in the last minute, but not in the last 3 seconds.
--
-- A sensor comes into the table when its latest report leaves the short window, goes as soon as it reports again, and is
-- forgotten when its latest report leaves the long one. Here one link in eight is cut for 6 seconds in every 14, which
-- makes 10 of the 80 sensors fall silent. Their reports come after the link is back, too late: DRATIO 10% says that it is
-- better to lose one report in ten than to wait for them. With DRATIO 1% no sensor would be silent, and all answers late.
--
--     SELECT count(*) FROM silent;

CREATE STREAM Sensors (sensor INT, value DOUBLE, timestamp TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (
    stream 'sensors', rate '200', senders '80', mean '0.2 seconds', outage '6 seconds', outage_every '14 seconds', seed '4'
)
TIMESTAMP BY timestamp
ARRIVAL BY received;

CREATE SINK silent USING postgres;

INSERT INTO silent
SELECT DISTINCT sensor FROM Sensors [RANGE 60 seconds DRATIO 10%]
EXCEPT
SELECT DISTINCT sensor FROM Sensors [RANGE 3 seconds DRATIO 10%]
EMIT CHANGES;
