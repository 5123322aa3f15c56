-- How often each page was clicked in the last 10 seconds, as a changelog: answers come at once and are corrected.
-- Look at `_change_type` and `_valid_to`: an insert says until when it holds, so most answers need no delete.
-- The late clicks are counted: a late click is lost only to answers that were given before it came.

CREATE STREAM Clicks (page INT, dwell DOUBLE, ts TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (
    stream 'sensors', 'column.page' 'sensor', 'column.dwell' 'value', event 'ts', rate '100', senders '8',
    mean '0.5 seconds', seed '5'
)
TIMESTAMP BY ts
ARRIVAL BY received;

CREATE SINK popular USING console;

INSERT INTO popular
SELECT page, COUNT(*) AS clicks
FROM Clicks [RANGE 10 seconds DRATIO 1%]
GROUP BY page
EMIT CHANGES;
