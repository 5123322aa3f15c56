-- Window operators (WIN): its queries as printed, over generated reports of vehicles.

CREATE STREAM Sensors (vehID INT, segment INT, speed DOUBLE, ts TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (stream 'vehicles', event 'ts', rate '200', delay 'exponential', mean '2 seconds', seed '3')
TIMESTAMP BY ts
ARRIVAL BY received
SOURCE BY vehID;

CREATE SINK q1 USING console;
CREATE SINK q2 USING console;
CREATE SINK q3 USING console;
CREATE SINK q4 USING console;
CREATE SINK toll USING console;

-- Q1: a bare column in a grouped query is the latest one of its group
INSERT INTO q1
SELECT vehID, speed
     FROM Sensors [RANGE 300 seconds
                   SLIDE 30 seconds
                   WATTR ts]
     GROUP BY vehID
     HAVING AVG(speed) > 80;

-- Q2: a buffer of fixed size
INSERT INTO q2
SELECT vehID, speed
     FROM Sensors [RANGE 300 seconds
                   SLIDE 30 seconds
                   WATTR ts
                   SLACK 10];

-- Q3: a drop ratio
INSERT INTO q3
SELECT vehID, speed
     FROM Sensors [RANGE 300 seconds
                   SLIDE 30 seconds
                   WATTR ts
                   DRATIO 1%];

-- Q4: a drop ratio, and a limit on the rows that are held back
INSERT INTO q4
SELECT vehID, speed
     FROM Sensors [RANGE 300 seconds
                   SLIDE 30 seconds
                   WATTR ts
                   DRATIO 1%
                   BSIZE 100];

-- Figure 6: vehicles active in the last 30 seconds on segments whose average speed over 5 minutes is below 40 pay a
-- toll. The sync tuples of both windows see to it that no vehicle pays for traffic of another moment.
INSERT INTO toll
SELECT DISTINCT Active.vehID, Active.segment
FROM Sensors AS Active [RANGE 30 seconds SLIDE 30 seconds],
     (SELECT segment, AVG(speed) AS average
      FROM Sensors [RANGE 5 minutes SLIDE 30 seconds]
      GROUP BY segment
      HAVING AVG(speed) < 40) AS Congested
WHERE Active.segment = Congested.segment
EMIT FINAL WITH SYNC;
