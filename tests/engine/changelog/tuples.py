"""Queries whose windows count rows, together with other streams, and queries that ask for the numbers of rows."""
# ruff: noqa: S608 (no query here reaches a database)

LAST, EXTENT = "[RANGE 2 TUPLES, FREQUENCY 3 seconds]", "[RANGE 6 seconds SLIDE 3 seconds]"
MET = {
    "the last rows with extents": f"""SELECT r.id, p.v, window_end FROM Readings AS r {LAST}, Pulses AS p {EXTENT}
        WHERE r.id = p.id""",
    "the last rows of each key with extents, grouped": f"""SELECT r.id, COUNT(*) AS n FROM Readings AS r
        [RANGE 2 TUPLES, FREQUENCY 3 seconds PARTITIONED BY id], Pulses AS p {EXTENT} GROUP BY r.id""",
    "the last rows of two streams with extents": f"""SELECT r.id, p.v, e.v AS w FROM Readings AS r {LAST},
        Pulses AS p {LAST}, Events AS e {EXTENT} WHERE r.id = p.id""",
    "the last rows less extents": f"SELECT id FROM Readings {LAST} EXCEPT SELECT id FROM Pulses {EXTENT} WHERE v > 3",
    "the last rows and extents less others": f"""SELECT id FROM Readings {LAST} UNION ALL SELECT id
        FROM Events {EXTENT} EXCEPT SELECT id FROM Pulses {EXTENT}""",
    "the last rows beside extents": f"SELECT id FROM Readings {LAST} UNION ALL SELECT id FROM Pulses {EXTENT}",
    "the last rows in a subquery": f"""SELECT q.id, p.v FROM (SELECT id FROM Readings {LAST}) AS q,
        Pulses AS p {EXTENT}""",
    "the last rows with those of a subquery with extents": f"""SELECT r.id, q.n FROM Readings AS r {LAST},
        (SELECT p.id, COUNT(*) AS n FROM Pulses AS p {LAST}, Events AS e {EXTENT} GROUP BY p.id) AS q""",
    "the last rows with slides apart": f"""SELECT r.id, q.n FROM Readings AS r {LAST}, (SELECT id AS n
        FROM Pulses {EXTENT} UNION ALL SELECT id AS n FROM Events [RANGE 4 seconds SLIDE 2 seconds]) AS q""",
    "the last rows of several streams with extents": f"""SELECT q.id, e.v FROM (SELECT id, v FROM Readings
        UNION ALL SELECT id, v FROM Pulses) AS q {LAST}, Events AS e {EXTENT}""",
    "the last sampled rows with extents": f"""SELECT q.id, e.v FROM (SELECT id, v FROM Readings
        [FREQUENCY 2 seconds]) AS q {LAST}, Events AS e {EXTENT}""",
    "the last rows with extents as a stream": f"""SELECT COUNT(*) AS n FROM (SELECT r.id, p.v
        FROM Readings AS r {LAST}, Pulses AS p {EXTENT}) AS q [RANGE 4 seconds]""",
}
PARTS, UNITED = "PARTITIONED BY id", "(SELECT id, v FROM Readings UNION ALL SELECT id, v FROM Pulses) AS q"
PARTED = {
    "parts of extents in pairs, counted": f"""SELECT id, w FROM (SELECT r.id, p.v AS w FROM Readings AS r
        [RANGE 6 seconds, FREQUENCY 3 seconds {PARTS}], Pulses AS p {EXTENT}) AS q [RANGE 3 TUPLES]""",
    "parts of several streams in pairs, counted": f"""SELECT v, w FROM (SELECT q.v, e.id AS w FROM {UNITED}
        [RANGE 2 TUPLES, FREQUENCY 3 seconds {PARTS}], Events AS e {EXTENT}) AS z [RANGE 2 TUPLES]""",
    "parts counted together, for something is less": f"""SELECT COUNT(*) AS n FROM Readings
        [RANGE 2 TUPLES, FREQUENCY 3 seconds {PARTS}] EXCEPT SELECT v AS n FROM Pulses {EXTENT}""",
    "extents of parts counted together": f"""SELECT COUNT(*) AS n FROM Readings
        [RANGE 6 seconds, FREQUENCY 3 seconds {PARTS}] EXCEPT SELECT v AS n FROM Pulses {EXTENT}""",
    "parts of several streams, each row once": f"""SELECT DISTINCT v FROM {UNITED}
        [RANGE 2 TUPLES, FREQUENCY 3 seconds {PARTS}]""",
    "parts of several streams, each grouped": f"""SELECT v, COUNT(*) AS n FROM {UNITED}
        [RANGE 2 TUPLES, FREQUENCY 3 seconds {PARTS}] GROUP BY v""",
}
NUMBERS = {
    "numbers of counted rows": """SELECT id, row_number FROM Readings [RANGE 2 TUPLES, FREQUENCY 1 TUPLE
        PARTITIONED BY id] WHERE row_number > 1""",
    "numbers of jumps": "SELECT id, row_number FROM Readings [RANGE 6 seconds, FREQUENCY 2 TUPLES]",
    "greatest number of counted rows": "SELECT id, MAX(row_number) AS n FROM Readings [RANGE 3 TUPLES] GROUP BY id",
    "numbers of what is sampled": "SELECT id, row_number FROM Readings [FREQUENCY 3 seconds PARTITIONED BY id]",
    "numbers of a subquery": """SELECT id, row_number FROM (SELECT id, v FROM Readings WHERE v > 0) AS q
        WHERE row_number > 1""",
    "numbers of answers": """SELECT m, row_number FROM (SELECT MAX(v) AS m FROM Readings [RANGE 3 seconds]) AS q
        [RANGE 4 seconds]""",
    "numbers of pairs": """SELECT v, row_number FROM (SELECT r.id, e.v FROM Readings AS r [RANGE 6 seconds], Events AS e
        [RANGE 3 seconds]) AS q WHERE row_number % 2 = 0""",
    "numbers of what is sampled, of two streams": f"SELECT v, row_number FROM {UNITED} [FREQUENCY 2 seconds]",
    "numbers of changes": "SELECT id, row_number FROM (SELECT id, v FROM Edits) AS q",
    "rows with odd numbers, each once": "SELECT DISTINCT * FROM Pulses [RANGE 4 seconds] WHERE row_number % 2 = 1",
    "numbers on two sides": """SELECT id, row_number FROM Readings [RANGE 2 TUPLES] UNION ALL SELECT id, row_number
        FROM Pulses [FREQUENCY 2 seconds]""",
}
PAIRS = {
    "pairs with the last rows": """SELECT q.id, w FROM (SELECT r.id, p.v AS w FROM Readings AS r [RANGE 2 TUPLES],
        Events AS p) AS q [RANGE 3 seconds]""",
    "pairs with the last row of each key, counted": """SELECT q.id, w FROM (SELECT r.id, p.v AS w FROM Readings AS r
        [RANGE 1 TUPLE, FREQUENCY 1 TUPLE PARTITIONED BY id], Events AS p [RANGE 4 seconds] WHERE p.v > 0) AS q
        [RANGE 5 TUPLES]""",
    "pairs of the last rows of a stream with itself": """SELECT q.id, w FROM (SELECT r.id, p.v AS w FROM Pulses AS r
        [RANGE 2 TUPLES], Pulses AS p [RANGE 3 seconds]) AS q""",
    "triples with the last rows": """SELECT q.id, w FROM (SELECT r.id, p.v AS w FROM Readings AS r [RANGE 2 TUPLES],
        Pulses AS p [RANGE 5 seconds], Events AS e [RANGE 1 TUPLE] WHERE r.id = p.id) AS q""",
    "pairs with the last rows, sampled": """SELECT q.id, w FROM (SELECT r.id, p.v AS w FROM Readings AS r
        [RANGE 2 TUPLES], Events AS p [RANGE 4 seconds]) AS q [FREQUENCY 3 seconds]""",
    "pairs with the last rows, at boundaries": """SELECT id, COUNT(*) AS n FROM (SELECT r.id, p.v AS w
        FROM Readings AS r [RANGE 2 TUPLES], Events AS p [RANGE 4 seconds]) AS q [RANGE 4 seconds SLIDE 2 seconds]
        GROUP BY id""",
    "pairs of the last rows of subqueries, with their time and number": f"""SELECT z.id, t, row_number
        FROM (SELECT r.id, row_time AS t FROM (SELECT id, ts FROM Readings [FREQUENCY 2 seconds]) AS r [RANGE 2 TUPLES],
        {UNITED} [RANGE 3 TUPLES] WHERE row_time > r.ts) AS z""",
    "pairs with the last rows beside others": """SELECT id, w FROM (SELECT r.id, p.v AS w FROM Readings AS r
        [RANGE 2 TUPLES], Pulses AS p UNION ALL SELECT id, v FROM Events) AS q [RANGE 3 TUPLES]""",
}
TUPLES = {**MET, **PARTED, **NUMBERS, **PAIRS}
