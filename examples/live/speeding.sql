-- Vehicles that are speeding right now: seen faster than 95 at both ends of a stretch of road, at most 10 seconds apart.
--
-- Each report is in its window for 10 seconds, so a pair of reports lives until the older one has left: its end is known
-- when it begins, and nothing ever has to be taken back. The table has the pairs that live; what has ended leaves it:
--
--     SELECT DISTINCT "vehID" FROM speeding;

CREATE STREAM Entries (
    vehID INT, segment INT, speed DOUBLE, timestamp TIMESTAMP, received TIMESTAMP, PRIMARY KEY (vehID, timestamp)
)
USING generate OPTIONS (stream 'vehicles', rate '200', senders '300', mean '0.5 seconds', seed '1')
TIMESTAMP BY timestamp
ARRIVAL BY received;

CREATE STREAM Exits (
    vehID INT, segment INT, speed DOUBLE, timestamp TIMESTAMP, received TIMESTAMP, PRIMARY KEY (vehID, timestamp)
)
USING generate OPTIONS (stream 'vehicles', rate '200', senders '300', mean '0.5 seconds', seed '2')
TIMESTAMP BY timestamp
ARRIVAL BY received;

CREATE SINK speeding USING postgres;

INSERT INTO speeding
SELECT Entered.vehID, Entered.timestamp AS entered, Gone.timestamp AS gone, Entered.speed AS before, Gone.speed AS after
FROM Entries AS Entered [RANGE 10 seconds DRATIO 1%],
     Exits AS Gone [RANGE 10 seconds DRATIO 1%]
WHERE Entered.vehID = Gone.vehID AND Entered.speed > 95 AND Gone.speed > 95
EMIT CHANGES;
