-- Disorder control, journal version (ADC-J): its queries as printed, over generated sensor readings.

CREATE STREAM Sensors (sensor INT, value DOUBLE, timestamp TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (stream 'sensors', rate '100', delay 'exponential', mean '1 second', seed '2')
TIMESTAMP BY timestamp
ARRIVAL BY received
SOURCE BY sensor;

CREATE SINK q1 USING console;
CREATE SINK q2 USING console;
CREATE SINK q3 USING console;

-- Q1: evaluated at every row
INSERT INTO q1
SELECT MAX(value)
    FROM Sensors [RANGE 30 seconds];

-- Q2: with a drop ratio
INSERT INTO q2
SELECT MAX(value)
    FROM Sensors [RANGE 30 seconds, DRATIO 1%];

-- Q3
INSERT INTO q3
SELECT MAX(value)
      FROM Sensors [RANGE 5 minutes, DRATIO 1%];
