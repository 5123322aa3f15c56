-- The pulse rate of each animal: how many of its beats the last minute has seen, at every tenth beat.
-- Look at how few rows come out, about one for ten beats: the answers at the other nine are never computed.
-- `FREQUENCY 10 TUPLES PARTITIONED BY Id` after the select list is what says so.

CREATE STREAM Pulse (Id INT, Timestamp TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (stream 'pulses', event 'Timestamp', rate '50', senders '20', mean '0.5 seconds', seed '4')
TIMESTAMP BY Timestamp
ARRIVAL BY received;

CREATE SINK rates USING console;

INSERT INTO rates
SELECT Id, COUNT(*) AS beats [FREQUENCY 10 TUPLES PARTITIONED BY Id]
FROM Pulse [RANGE 1 minute DRATIO 1%]
GROUP BY Id;
