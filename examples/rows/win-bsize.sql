-- WIN: the rows of a window, with a drop ratio and a limit on the rows that are held back.
-- Every 30 seconds all rows of the last 300. At most 1% may be late; but never more than 100 rows wait, and while that
-- limit binds more may be late.

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
                   DRATIO 1%
                   BSIZE 100];
