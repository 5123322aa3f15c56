-- Condensative queries (CSQL): its queries as printed, over generated measurements of animals.

CREATE STREAM Pulse (Id INT, Timestamp TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (stream 'pulses', event 'Timestamp', rate '50', senders '40', seed '4')
TIMESTAMP BY Timestamp
ARRIVAL BY received
SOURCE BY Id;

CREATE STREAM BodyCondition (
    Id INT, Species STRING, BTemp DOUBLE, BloodP INT, Timestamp TIMESTAMP, received TIMESTAMP
)
USING generate OPTIONS (stream 'body_conditions', event 'Timestamp', rate '40', senders '40', seed '5')
TIMESTAMP BY Timestamp
ARRIVAL BY received
SOURCE BY Id;

CREATE SINK q1a USING console;
CREATE SINK q1b USING console;
CREATE SINK q1c USING console;
CREATE SINK q2 USING console;
CREATE SINK q3 USING console;
CREATE SINK q4 USING console;

-- Query 1 (a): for every 100 tuples of the stream, the horses of the last minute
INSERT INTO q1a
SELECT *
FROM   BodyCondition AS B
WHERE  [Range 1 Minute, Frequency 100 Tuples]
       B.Species = 'horse';

-- Query 1 (b): every 100th tuple of the answer
INSERT INTO q1b
SELECT * [Frequency 100 Tuples]
FROM BodyCondition AS B [Range 1 Minute]
WHERE B.Species = 'horse';

-- Query 1 (c): every 100th tuple of the answer for each animal
INSERT INTO q1c
SELECT *
      [Frequency 100 Tuples Partitioned By B.Id ]
FROM BodyCondition B [Range 1 Minute]
WHERE B.Species = 'horse';

-- Query 2: one reading a minute for each animal, out of every 100th tuple
INSERT INTO q2
SELECT * [Frequency 1 Minute Partitioned By B.Id]
FROM BodyCondition B
      [Frequency 100 Tuples Partitioned By B.Id];

-- Query 3: the pulse rate per minute of each animal, once in 10 beats
INSERT INTO q3
SELECT P.Id, COUNT(*)
      [Frequency 10 Tuples Partitioned By P.Id]
FROM Pulse P
      [Range 1 Minute, Frequency 1 Tuple]
GROUP BY P.Id;

-- Query 4: the average of these over an hour, every minute
INSERT INTO q4
SELECT PR.Id, AVG(PR.Rate)
      [Frequency 1 Minute Partitioned By PR.Id]
FROM (SELECT P.Id, COUNT(*)
      [Frequency 10 Tuples Partitioned By P.Id]
      AS Rate
FROM Pulse P [Range 1 Minute,
              Frequency 1 Tuple]
GROUP BY P.Id )
AS PulseRate PR
      [Range 1 Hour, Frequency 1 Tuple]
GROUP BY PR.Id;
