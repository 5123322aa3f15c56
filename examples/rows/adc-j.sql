-- ADC-J: the maximum of the last 30 seconds, at every row.
-- A row is answered once the punctuation has passed it: then every row that its window can still get has come, but for
-- the 1% that may be late. The answer has as many rows as the stream.

CREATE STREAM Sensors (sensor INT, value DOUBLE, timestamp TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (
    stream 'sensors', rate '20', delay 'exponential', mean '1 second', pace 'max', batch '2 minutes', seed '2'
)
TIMESTAMP BY timestamp
ARRIVAL BY received;

CREATE SINK answers USING console;

INSERT INTO answers
SELECT MAX(value)
    FROM Sensors [RANGE 30 seconds, DRATIO 1%];
