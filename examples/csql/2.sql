-- CSQL, query 2: two frequencies, one on the input and one on the result.
-- First every 100th row of each animal, then of these the last one in each minute of that animal. A slot of a minute is
-- answered once the punctuation has passed its end.

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
SELECT * [Frequency 1 Minute Partitioned By B.Id]
FROM BodyCondition B
      [Frequency 100 Tuples Partitioned By B.Id];
