-- CSQL, query 3: pulse rates.
-- At each beat, how many beats of that animal the last minute has seen; one answer for every ten beats of the animal.

CREATE STREAM Pulse (Id INT, Timestamp TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (
    stream 'pulses', event 'Timestamp', rate '10', senders '10', pace 'max', batch '5 minutes', seed '4'
)
TIMESTAMP BY Timestamp
ARRIVAL BY received;

CREATE SINK answers USING console;

INSERT INTO answers
SELECT P.Id, COUNT(*)
      [Frequency 10 Tuples Partitioned By P.Id]
FROM Pulse P
      [Range 1 Minute, Frequency 1 Tuple]
GROUP BY P.Id;
