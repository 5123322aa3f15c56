-- CSQL, query 1 (b): the same frequency on the result.
-- Every row is an instant, at which a horse shows itself; of these answers every 100th is kept. So the hundredth, the
-- two hundredth, ... row of a horse, about once in ten seconds of the stream.

CREATE STREAM BodyCondition (
    Id INT, Species STRING, BTemp DOUBLE, BloodP INT, Timestamp TIMESTAMP, received TIMESTAMP
)
USING generate OPTIONS (
    stream 'body_conditions', event 'Timestamp', rate '40', senders '40', pace 'max', batch '2 minutes', seed '5'
)
TIMESTAMP BY Timestamp
ARRIVAL BY received;

CREATE SINK answers USING console;

INSERT INTO answers
SELECT * [Frequency 100 Tuples]
FROM BodyCondition AS B [Range 1 Minute]
WHERE B.Species = 'horse';
