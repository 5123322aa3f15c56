-- Vehicles that were active in the last 5 seconds, on a segment whose average speed over 20 seconds is below 72, pay a toll.
-- Look at `window_end`: both windows end at the same boundary, and no row appears before both are complete.
-- Rows with `_sync` true say that all rows of a boundary are out, so that a consumer can bill it.

CREATE STREAM Sensors (vehID INT, segment INT, speed DOUBLE, ts TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (
    stream 'vehicles', event 'ts', rate '200', delay 'exponential', mean '0.5 seconds', seed '3'
)
TIMESTAMP BY ts
ARRIVAL BY received;

CREATE SINK toll USING console;

INSERT INTO toll
SELECT DISTINCT Active.vehID, Active.segment, window_end
FROM Sensors AS Active [RANGE 5 seconds SLIDE 5 seconds DRATIO 1%],
     (SELECT segment, AVG(speed) AS average
      FROM Sensors [RANGE 20 seconds SLIDE 5 seconds DRATIO 1%]
      GROUP BY segment
      HAVING AVG(speed) < 72) AS Congested
WHERE Active.segment = Congested.segment
EMIT FINAL WITH SYNC;
