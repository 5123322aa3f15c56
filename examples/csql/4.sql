-- CSQL, query 4: a query over the answers of a query.
-- The inner one is query 3. Over its answers of the last hour, the average rate of each animal, one answer a minute.
-- Both group by Id, so that both run in one operator, in buckets by Id.

CREATE STREAM Pulse (Id INT, Timestamp TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (
    stream 'pulses', event 'Timestamp', rate '40', senders '40', pace 'max', batch '5 minutes', seed '4'
)
TIMESTAMP BY Timestamp
ARRIVAL BY received;

CREATE SINK answers USING console;

INSERT INTO answers
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
