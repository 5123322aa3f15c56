-- CSQL, query 1 (a): a jumping window on the stream.
-- At every 100th row of the whole stream, whatever species it is of: all horses of the minute before that row. A horse
-- is shown as often as it is in such a window. The rows are counted in the order of their timestamps, late ones apart.

CREATE STREAM BodyCondition (
    Id INT, Species STRING, BTemp DOUBLE, BloodP INT, Timestamp TIMESTAMP, received TIMESTAMP
)
USING generate OPTIONS (
    stream 'body_conditions', event 'Timestamp', rate '5', senders '40', pace 'max', batch '10 minutes', seed '5'
)
TIMESTAMP BY Timestamp
ARRIVAL BY received;

CREATE SINK answers USING console;

INSERT INTO answers
SELECT *
FROM   BodyCondition AS B
WHERE  [Range 1 Minute, Frequency 100 Tuples]
       B.Species = 'horse';
