-- CSQL, query 1 (c): a frequency for each animal.
-- As 1 (b), but rows are counted for each animal by itself: the hundredth row of horse 3, of horse 7, and so on.
-- Buckets of rows by Id are independent of each other.

CREATE STREAM BodyCondition (
    Id INT, Species STRING, BTemp DOUBLE, BloodP INT, Timestamp TIMESTAMP, received TIMESTAMP
)
USING generate OPTIONS (
    stream 'body_conditions', event 'Timestamp', rate '40', senders '40', pace 'max', batch '10 minutes', seed '5'
)
TIMESTAMP BY Timestamp
ARRIVAL BY received;

CREATE SINK answers USING console;

INSERT INTO answers
SELECT *
      [Frequency 100 Tuples Partitioned By B.Id ]
FROM BodyCondition B [Range 1 Minute]
WHERE B.Species = 'horse';
