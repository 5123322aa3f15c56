-- Positive-temporal and negative tuples (APAS): the chain that it tests, and the operators of its figures 2 to 6.
-- The paper draws plans, not text; these are the same plans as queries.

CREATE STREAM Gen1 (vehID INT, segment INT, speed DOUBLE, timestamp TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (stream 'vehicles', rate '100', seed '6')
TIMESTAMP BY timestamp
ARRIVAL BY received
SOURCE BY vehID;

CREATE STREAM Gen2 (vehID INT, segment INT, speed DOUBLE, timestamp TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (stream 'vehicles', rate '100', seed '7')
TIMESTAMP BY timestamp
ARRIVAL BY received
SOURCE BY vehID;

CREATE SINK chained USING console;
CREATE SINK joined USING console;
CREATE SINK summed USING console;
CREATE SINK different USING console;
CREATE SINK missing USING console;

-- Section 4: generator, range window, filter, grouped aggregate, map, sink
INSERT INTO chained
SELECT segment, SUM(speed) / COUNT(*) AS average
FROM Gen1 [RANGE 1 minute]
WHERE speed > 20
GROUP BY segment
EMIT CHANGES;

-- Figure 2: join
INSERT INTO joined
SELECT A.vehID, A.speed AS before, B.speed AS after
FROM Gen1 AS A [RANGE 10 seconds] JOIN Gen2 AS B [RANGE 20 seconds] ON A.vehID = B.vehID
EMIT CHANGES;

-- Figures 3 and 4: aggregate
INSERT INTO summed
SELECT SUM(speed) AS total FROM Gen1 [RANGE 10 seconds] EMIT CHANGES;

-- Figure 5: distinct
INSERT INTO different
SELECT DISTINCT segment FROM Gen1 [RANGE 10 seconds] EMIT CHANGES;

-- Figure 6: minus
INSERT INTO missing
SELECT segment FROM Gen1 [RANGE 10 seconds]
MINUS
SELECT segment FROM Gen2 [RANGE 20 seconds]
EMIT CHANGES;
