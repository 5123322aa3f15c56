-- WIN: the rows of a window, with a buffer of fixed size.
-- Every 30 seconds all rows of the last 300. SLACK 10: a row that comes when more than ten later ones have come is late.

CREATE STREAM Sensors (vehID INT, segment INT, speed DOUBLE, ts TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (
    stream 'vehicles', event 'ts', rate '5', senders '20', delay 'exponential', mean '2 seconds',
    pace 'max', batch '2 minutes', seed '3'
)
TIMESTAMP BY ts
ARRIVAL BY received;

CREATE SINK answers USING console;

INSERT INTO answers
SELECT vehID, speed
     FROM Sensors [RANGE 300 seconds
                   SLIDE 30 seconds
                   WATTR ts
                   SLACK 10];
