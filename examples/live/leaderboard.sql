-- A live leaderboard: the road segments with the most different vehicles in the last 10 seconds.
--
-- DISTINCT over a range window holds each vehicle of a segment once, for as long as a report of it is in the window; the
-- count above it changes when a vehicle comes and when its last report leaves. The table always has one row per segment:
--
--     SELECT segment, vehicles FROM leaderboard ORDER BY vehicles DESC LIMIT 5;

CREATE STREAM Traffic (vehID INT, segment INT, speed DOUBLE, timestamp TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (stream 'vehicles', rate '1000', senders '2000', delay 'exponential', mean '0.2 seconds', seed '5')
TIMESTAMP BY timestamp
ARRIVAL BY received;

CREATE SINK leaderboard USING postgres;

INSERT INTO leaderboard
SELECT segment, COUNT(*) AS vehicles
FROM (SELECT DISTINCT segment, vehID FROM Traffic [RANGE 10 seconds DRATIO 1%]) AS Present
GROUP BY segment
EMIT CHANGES;
