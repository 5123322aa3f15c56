-- Disorder control (ADC): its queries as printed, over generated reports of vehicles.

CREATE STREAM Traffic (vehID INT, segment INT, speed DOUBLE, timestamp TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (stream 'vehicles', rate '200', delay 'exponential', mean '2 seconds', seed '1')
ARRIVAL BY received
SOURCE BY vehID;

CREATE SINK q1 USING console;
CREATE SINK q2 USING console;

-- Q1: a buffer of fixed size
INSERT INTO q1
SELECT MAX(speed)
FROM Traffic [RANGE 5 minutes
SLIDE 1 minute
WATTR timestamp
SLACK 10];

-- Q2: a buffer that adapts to a drop ratio, of limited size
INSERT INTO q2
SELECT MAX(speed)
FROM Traffic [RANGE 5 minutes
SLIDE 1 minute
WATTR timestamp
DRATIO 5%
SLACK 20];
