-- WIN's toll query on generated vehicles, scaled down so that a minute of it shows everything: vehicles that were
-- active in the last 5 seconds on a segment whose average speed over 20 seconds is below 72 pay a toll.
--
-- Both windows slide by 5 seconds, and extents that end at the same boundary join. No row of a boundary is written
-- before both windows have passed it, so that nobody pays for the traffic of another moment. WITH SYNC adds one row per
-- boundary, with _sync true, when all rows of that boundary are out: a consumer can bill it then.

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
