"""Random queries on which each rule fires often, as SQL over the catalog of `slackwater.testing`.

Among them are queries on which it must not fire, and on which a rule with a condition too few would.
"""
# ruff: noqa: S608 (the queries are read by our own parser, and run on nothing)

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.rewrite.draws import CALLS, MERGED_CALLS, Case, Draw, bound, stacked, strictly

from slackwater.algebra.catalog import ViewDef
from slackwater.lang import bind_query
from slackwater.rewrite import RULES
from slackwater.testing.catalog import CATALOG


def split_selections(d: Draw) -> Case:
    return bound(
        d.one(
            f"SELECT id, {d.calls()} FROM Readings {d.time_window()} GROUP BY id HAVING {d.on_id()} AND COUNT(*) > 1",
            f"SELECT id, v FROM Readings [FREQUENCY {d.seconds()} PARTITIONED BY id] "
            f"WHERE {d.condition()} AND {d.on_id()}",
            f"SELECT id, v FROM Readings {d.rows_window()} "
            f"WHERE {d.where()} AND row_time > TIMESTAMP '1970-01-01 00:00:04'",
            "SELECT id, v FROM Readings [RANGE 3 TUPLES, FREQUENCY 2 TUPLES PARTITIONED BY id] "
            f"WHERE {d.where()} AND {d.on_id()}",
            f"SELECT q.id FROM (SELECT id, kind, AVG(v) a FROM Readings {d.slide()} GROUP BY id, kind) q "
            f"WHERE {d.on_id()} AND q.a > 1",
        )
    )


def merge_selections(d: Draw) -> Case:
    case = bound(
        d.one(
            f"SELECT id, {d.calls()} FROM Readings {d.time_window()} WHERE {d.where()} AND {d.where()} GROUP BY id",
            f"SELECT * FROM Readings [RANGE {d.number(1, 3)} TUPLES] WHERE {d.where()} AND {d.condition()}",
            f"SELECT q.id FROM (SELECT id, v, kind FROM Readings WHERE {d.where()}) q WHERE {d.condition('q.')}",
            f"SELECT id, {d.calls()} FROM Readings {d.slide()} GROUP BY id "
            f"HAVING COUNT(*) > 1 AND MAX(v) > 2 AND {d.on_id()}",
        )
    )
    return replace(case, plan=stacked(case.plan))


def push_selects_below_windows(d: Draw) -> Case:
    if d.number(0, 3) == 0:
        return bound(
            d.one(
                f"SELECT {d.calls()} FROM Readings [RANGE 3 TUPLES] WHERE {d.where()} GROUP BY kind",
                f"SELECT {d.calls()} FROM Readings [RANGE 5 SECONDS, FREQUENCY 2 TUPLES] WHERE {d.where()}",
                f"SELECT id, v FROM Readings [RANGE 1 TUPLE, FREQUENCY 2 SECONDS PARTITIONED BY id] WHERE {d.on_id()}",
                f"SELECT id, v [FREQUENCY 2 TUPLES] FROM Readings {d.rows_window()} WHERE {d.where()}",
                f"SELECT id, v FROM Readings {d.slide()} WHERE {d.where()} EMIT FINAL WITH SYNC",
            )
        )
    return bound(
        d.one(
            f"SELECT id, v FROM Readings {d.time_window()} WHERE {d.where()}",
            f"SELECT {d.calls()} FROM Readings {d.time_window()} WHERE {d.where()}",
            f"SELECT kind, {d.calls()} FROM Readings {d.time_window()} WHERE {d.where()} GROUP BY kind",
            f"SELECT kind, {d.calls()} FROM Readings [RANGE {d.seconds()}, FREQUENCY {d.one('1 TUPLE', '3 SECONDS')} "
            f"PARTITIONED BY id] WHERE {d.where()} GROUP BY kind",
            f"SELECT {d.calls()} FROM Readings [RANGE {d.number(1, 4)} TUPLES, FREQUENCY {d.number(1, 3)} TUPLES "
            f"PARTITIONED BY id] WHERE {d.on_id()} GROUP BY kind",
            f"SELECT DISTINCT id FROM Events {d.slide()} WHERE {d.where()}",
            f"SELECT q.id, {d.calls(CALLS[:3])} FROM (SELECT id, v, x FROM Readings {d.time_window()}) q {d.slide()} "
            f"WHERE q.v > {d.number(0, 3)} GROUP BY q.id",
            f"SELECT kind, {d.calls(CALLS[:3])} FROM Readings [RANGE {d.seconds()}] WHERE {d.where()} GROUP BY kind "
            "EMIT CHANGES",
        )
    )


def push_selects_below_projects(d: Draw) -> Case:
    inner = d.one(
        f"SELECT id, v + 1 AS v, UPPER(kind) AS kind FROM Readings {d.maybe(d.time_window())}",
        f"SELECT id, MAX(v) AS v, MIN(kind) AS kind FROM Readings {d.time_window()} GROUP BY id",
        f"SELECT kind, id, v [FREQUENCY {d.one('2 TUPLES', '3 SECONDS')} PARTITIONED BY id] FROM Readings",
        "SELECT v - id AS v, id, kind FROM Events [FREQUENCY 2 SECONDS]",
    )
    return bound(
        d.one(
            f"SELECT q.v, id FROM ({inner}) q WHERE {d.where('q.')}",
            f"SELECT COUNT(*) c FROM ({inner}) q {d.time_window()} WHERE {d.where()}",
            f"SELECT q.v, e.v AS w FROM ({inner}) q [RANGE 3 SECONDS SLIDE 2 SECONDS], Events e "
            f"[RANGE 4 SECONDS SLIDE 2 SECONDS] WHERE {d.condition('q.')} AND q.id = e.id",
        )
    )


def push_selects_below_aggregates(d: Draw) -> Case:
    window = d.one(
        d.time_window(),
        d.time_window(),
        f"[RANGE {d.number(1, 4)} TUPLES]",
        f"[RANGE {d.seconds()}, FREQUENCY 2 TUPLES]",
        f"[RANGE {d.number(1, 4)} TUPLES, FREQUENCY 2 SECONDS]",
        "[RANGE 3 TUPLES, FREQUENCY 2 TUPLES PARTITIONED BY kind]",
    )
    grouped = d.one("id", "id, kind", "id, v % 2")
    frequency = d.maybe(f"[FREQUENCY {d.one('2 TUPLES', '3 SECONDS')} {d.maybe('PARTITIONED BY id')}]")
    having = d.on_id() + d.maybe(" AND COUNT(*) > 1")
    changes = " EMIT CHANGES" if not frequency and d.number(0, 9) == 0 else ""
    return bound(
        f"SELECT id, {d.calls()} {frequency} FROM Readings {window} {d.maybe('WHERE ' + d.where())} "
        f"GROUP BY {grouped} HAVING {having}{changes}"
    )


def push_selects_below_frequencies(d: Draw) -> Case:
    case = bound(
        d.one(
            f"SELECT id, v FROM Readings [FREQUENCY {d.seconds()} PARTITIONED BY id] WHERE {d.on_id()}",
            f"SELECT kind FROM Readings [FREQUENCY {d.seconds()} PARTITIONED BY id, kind] "
            f"WHERE {d.on_id()} AND kind = 'a'",
            f"SELECT q.id, q.a FROM (SELECT id, MAX(v) a [FREQUENCY {d.seconds()} PARTITIONED BY id] "
            f"FROM Readings {d.time_window()} GROUP BY id) q WHERE {d.on_id()}",
            f"SELECT COUNT(*) c FROM (SELECT id [FREQUENCY {d.seconds()} PARTITIONED BY id] FROM Events) q "
            f"{d.time_window()} WHERE {d.on_id()}",
            f"SELECT id, v FROM Readings [FREQUENCY {d.one('2 TUPLES', '2 SECONDS')} {d.maybe('PARTITIONED BY kind')}] "
            f"WHERE {d.where()}",
        )
    )
    return replace(case, plan=strictly(case.plan)) if d.number(0, 3) == 0 else case


def two_sources(d: Draw) -> str:
    slide = d.number(1, 4)
    return d.one(
        f"Readings r [RANGE {d.seconds()} SLIDE {slide} SECONDS], Events e [RANGE {d.seconds()} SLIDE {slide} SECONDS]",
        f"Readings r [RANGE {d.seconds()}], Events e [RANGE {d.seconds()}]",
        f"Readings r [RANGE {d.number(1, 4)} TUPLES], Events e [RANGE {d.seconds()}]",
        f"Pulses r [RANGE {d.seconds()}], Readings e [RANGE {d.seconds()}]",
        f"Readings r [RANGE {d.seconds()}], Readings e [RANGE {d.seconds()}]",
        f"(SELECT id, MAX(v) v FROM Readings [RANGE {d.seconds()} SLIDE {slide} SECONDS] GROUP BY id) r, "
        f"Events e [RANGE {d.seconds()} SLIDE {slide} SECONDS]",
    )


def push_selects_below_joins(d: Draw) -> Case:
    simple = ("{}v > 0", "{}id < 2", "{}v IS NOT NULL", "{}id + {}v < 8")
    left, right = (d.rng.choice(simple).replace("{}", alias) for alias in ("r.", "e."))
    where = d.one(left, right, f"{left} AND {right}", f"r.id = e.id AND {left}", f"{right} AND r.v < e.v AND {left}")
    changes = " EMIT CHANGES" if d.number(0, 9) == 0 else ""
    sources = two_sources(d)
    if d.number(0, 2) == 0 and "(" not in sources:
        first, second = sources.split("], ")
        return bound(f"SELECT r.id, e.v FROM {first}] JOIN {second} ON {where}{changes}")
    return bound(f"SELECT r.v, e.id FROM {sources} WHERE {where}{changes}")


def interleave_selections(d: Draw) -> Case:
    both = d.one("r.id = e.id", "r.v > e.v", "r.id + e.id = 2", "r.id = e.id AND r.v < e.v", "r.id = e.id OR r.v = 1")
    more = d.maybe(f" AND {d.one('r.', 'e.')}v > 1")
    changes = " EMIT CHANGES" if d.number(0, 9) == 0 else ""
    return bound(f"SELECT r.v, e.id FROM {two_sources(d)} WHERE {both}{more}{changes}")


def push_frequencies_into_windows(d: Draw) -> Case:
    window = d.one(
        f"[RANGE {d.seconds()}, FREQUENCY {d.number(2, 4)} TUPLES {d.maybe('PARTITIONED BY id')}]",
        f"[RANGE {d.number(1, 5)} TUPLES, FREQUENCY {d.number(2, 4)} TUPLES {d.maybe('PARTITIONED BY id')}]",
        f"[RANGE {d.number(1, 5)} TUPLES, FREQUENCY {d.seconds()} {d.maybe('PARTITIONED BY kind')}]",
    )
    return whole(d, window)


def turn_frequencies_into_slides(d: Draw) -> Case:
    return whole(d, f"[RANGE {d.seconds()}, FREQUENCY {d.seconds()} {d.maybe('PARTITIONED BY id')}]")


def whole(d: Draw, window: str) -> Case:
    """Return queries that read all of a window."""
    where = d.maybe("WHERE " + d.where())
    return bound(
        d.one(
            f"SELECT id, v FROM Readings {window} {where}",
            f"SELECT {d.calls()} FROM Readings {window} {where}",
            f"SELECT id, {d.calls()} [FREQUENCY {d.one('2 TUPLES', '3 SECONDS')}] "
            f"FROM Readings {window} {where} GROUP BY id",
            f"SELECT DISTINCT kind FROM Readings {window} {where}",
            f"SELECT kind, {d.calls()} FROM Readings {window} {where} GROUP BY kind HAVING COUNT(*) > 1",
            f"SELECT AVG(q.a) m FROM (SELECT id, MAX(v) a FROM Readings {window} {where} "
            f"GROUP BY id) q {d.time_window()}",
        )
    )


def drop_idle_windows(d: Draw) -> Case:
    window = d.one(f"[RANGE {d.seconds()} {d.maybe(', FREQUENCY 1 TUPLE PARTITIONED BY id')}]", "[RANGE 3 TUPLES]")
    frequency = d.maybe(f"[FREQUENCY {d.one('2 TUPLES', '3 SECONDS')} {d.maybe('PARTITIONED BY id')}]")
    where = d.maybe("WHERE " + d.where())
    inner = f"SELECT id, v {frequency} FROM Readings {window} {where}"
    return bound(
        d.one(
            inner,
            f"SELECT id, v FROM Readings [RANGE 4 SECONDS, FREQUENCY 2 TUPLES] {where}",
            f"SELECT * {frequency} FROM Readings {window} {where}",
            f"{inner} UNION ALL SELECT id, v FROM Events [RANGE 2 SECONDS]",
            f"SELECT q.id, COUNT(*) c FROM ({inner}) q {d.time_window()} GROUP BY q.id",
        )
    )


def compose_frequencies(d: Draw) -> Case:
    by = d.one("", "PARTITIONED BY id", "PARTITIONED BY id, kind")
    a, b = d.number(2, 3), d.number(2, 3)
    outer, inner = d.one(
        f"{a} TUPLES|{b} TUPLES", f"{a * b} SECONDS|{b} SECONDS", f"{b} SECONDS|{a * b} SECONDS"
    ).split("|")
    where = d.maybe("WHERE " + d.where())
    if d.number(0, 3) == 0:
        other = d.one("", "PARTITIONED BY kind")
        return bound(
            d.one(
                f"SELECT id, v [FREQUENCY 5 SECONDS {by}] FROM Readings [FREQUENCY 2 SECONDS {by}]",
                f"SELECT id, v [FREQUENCY {outer} {by}] FROM Readings [FREQUENCY {inner} {other}]",
                f"SELECT id, v [FREQUENCY 2 TUPLES {by}] FROM Readings [FREQUENCY 2 SECONDS {by}]",
                f"SELECT id, v [FREQUENCY 2 TUPLES {by}] FROM Readings [RANGE 3 TUPLES, FREQUENCY 2 TUPLES {by}]",
            )
        )
    case = bound(
        d.one(
            f"SELECT id, v, kind [FREQUENCY {outer} {by}] FROM Readings [FREQUENCY {inner} {by}]",
            f"SELECT q.id [FREQUENCY {outer} {by}] FROM (SELECT id, v, kind [FREQUENCY {inner} {by}] "
            f"FROM Readings {where}) q",
            f"SELECT q.id, q.v [FREQUENCY {outer} {by}] FROM (SELECT id, kind, MAX(v) AS v [FREQUENCY {inner} {by}] "
            f"FROM Readings {d.time_window()} {where} GROUP BY id, kind) q",
        )
    )
    return replace(case, plan=strictly(case.plan)) if "SECONDS" in outer and d.number(0, 2) == 0 else case


def push_frequencies_below_aggregates(d: Draw) -> Case:
    every = d.one("2", "2", "3", "4")
    where = d.maybe("WHERE " + d.where())
    if d.number(0, 3) == 0:
        by_id, calls = "TUPLES PARTITIONED BY id]", d.calls()
        return bound(
            d.one(
                f"SELECT id, {calls} [FREQUENCY {every} {by_id} FROM Readings [RANGE 3 TUPLES] GROUP BY id",
                f"SELECT id, {calls} [FREQUENCY {every} {by_id} FROM Readings {d.slide()} GROUP BY id",
                f"SELECT id, {calls} [FREQUENCY {every} {by_id} FROM Readings {d.rows_window()} GROUP BY id, kind",
                f"SELECT id, {calls} [FREQUENCY {every} TUPLES] FROM Readings {d.rows_window()} GROUP BY id",
                f"SELECT id, {calls} [FREQUENCY 2 SECONDS PARTITIONED BY id] FROM Readings {d.rows_window()} "
                "GROUP BY id",
                f"SELECT id, {calls} [FREQUENCY {every} {by_id} FROM Readings {d.rows_window()} GROUP BY id "
                "HAVING COUNT(*) > 1",
            )
        )
    return bound(
        d.one(
            f"SELECT id, {d.calls()} [FREQUENCY {every} TUPLES PARTITIONED BY id] "
            f"FROM Readings {d.rows_window()} {where} GROUP BY id",
            f"SELECT id, kind, {d.calls()} [FREQUENCY {every} TUPLES PARTITIONED BY kind, id] "
            f"FROM Readings {d.rows_window()} "
            "GROUP BY id, kind",
            f"SELECT {d.calls()} [FREQUENCY {every} TUPLES] FROM Readings [RANGE {d.one(d.seconds(), '3 TUPLES')}]",
            f"SELECT kind, {d.calls()} [FREQUENCY {every} TUPLES PARTITIONED BY kind] FROM Readings "
            f"[RANGE {d.number(1, 4)} TUPLES, FREQUENCY 1 TUPLE PARTITIONED BY kind] GROUP BY kind",
            f"SELECT q.id, AVG(q.rate) r [FREQUENCY {d.one('3 SECONDS', '2 TUPLES')} PARTITIONED BY q.id] FROM "
            f"(SELECT id, COUNT(*) [FREQUENCY {every} TUPLES PARTITIONED BY id] AS rate "
            f"FROM Readings {d.rows_window()} "
            f"GROUP BY id) q {d.rows_window()} GROUP BY q.id",
        )
    )


def distribute_frequencies(d: Draw) -> Case:
    slide = d.number(1, 3)
    inner = d.one(
        f"SELECT id, MAX(v) AS v FROM Readings [RANGE {d.seconds()} SLIDE {slide} SECONDS] GROUP BY id",
        f"SELECT id, v FROM Readings [RANGE {d.seconds()}, FREQUENCY {slide} SECONDS] WHERE {d.where()}",
        f"SELECT DISTINCT id, v FROM Events [RANGE {d.seconds()} SLIDE {slide} SECONDS]",
        f"SELECT r.id, e.v FROM Readings r [RANGE {d.seconds()} SLIDE {slide} SECONDS], "
        f"Events e [RANGE {d.seconds()} SLIDE {slide} SECONDS] WHERE r.id = e.id",
        f"SELECT r.id, e.v FROM (SELECT id, COUNT(*) c FROM Pulses "
        f"[RANGE {d.seconds()} SLIDE {slide} SECONDS] GROUP BY id) r, "
        f"Events e [RANGE {d.seconds()} SLIDE {slide} SECONDS] WHERE r.id = e.id",
        f"SELECT id, MAX(v) AS v [FREQUENCY 2 TUPLES] FROM Readings "
        f"[RANGE {d.seconds()} SLIDE {slide} SECONDS] GROUP BY id",
        f"SELECT id, v FROM Readings [RANGE {d.seconds()} SLIDE {slide} SECONDS] EXCEPT "
        f"SELECT id, v FROM Events [RANGE {d.seconds()} SLIDE {slide} SECONDS]",
    )
    window = f"[RANGE {slide} SECONDS SLIDE {slide * d.number(2, 3)} SECONDS]"
    if d.number(0, 3) == 0:
        window = f"[RANGE {d.seconds(1, 4)} SLIDE {d.seconds(2, 7)}]"
    return bound(
        d.one(
            f"SELECT q.id, q.v, window_end AS w FROM ({inner}) q {window}",
            f"SELECT q.id, COUNT(*) c FROM ({inner}) q {window} GROUP BY q.id",
            f"SELECT q.id, q.v [FREQUENCY 2 TUPLES] FROM ({inner}) q {window} WHERE q.v > 1",
        )
    )


def push_down_projects(d: Draw) -> Case:
    changes = " EMIT CHANGES" if d.number(0, 9) == 0 else ""
    return bound(
        d.one(
            f"SELECT id FROM Readings {d.time_window()} {d.maybe('WHERE ' + d.where())}{changes}",
            f"SELECT id, {d.calls()} FROM Readings {d.time_window()} {d.maybe('WHERE ' + d.where())} "
            f"GROUP BY id{changes}",
            f"SELECT r.v, e.id FROM {two_sources(d)} WHERE r.id = e.id{changes}",
            f"SELECT v FROM Readings [FREQUENCY {d.one('2 TUPLES', '2 SECONDS')} PARTITIONED BY id] WHERE kind = 'a'",
            f"SELECT q.b FROM (SELECT id, MAX(v) a, COUNT(*) b, MIN(x) m FROM Readings {d.time_window()} GROUP BY id "
            f"HAVING MIN(x) < 2) q {d.time_window()}",
            f"SELECT q.v, COUNT(*) c FROM (SELECT id, v, kind, x "
            f"FROM Readings {d.time_window()}) q {d.slide()} GROUP BY q.v",
            f"SELECT DISTINCT r.kind FROM Readings r {d.slide()}",
        )
    )


def share_partitionings(d: Draw) -> Case:
    near = d.number(0, 4) == 0
    inner_window = d.one(
        d.one("[RANGE 3 TUPLES]", d.slide()) if near else d.time_window(),
        f"[RANGE {d.seconds(2, 6)}, FREQUENCY 2 TUPLES PARTITIONED BY id]",
    )
    by = "" if near else "PARTITIONED BY id"
    frequency = d.maybe(f"[FREQUENCY {d.one('2 TUPLES', '3 SECONDS')} {by}]")
    inner = (
        f"SELECT id, kind AS k, COUNT(*) c {frequency} FROM Readings {inner_window} "
        f"GROUP BY {d.one('id, kind', 'kind, id')}"
    )
    outer = d.one("q.id", "q.id, q.k", "q.k, q.id")
    top = d.maybe("[FREQUENCY 4 SECONDS PARTITIONED BY q.id]") if outer == "q.id" else ""
    return bound(
        f"SELECT q.id, {d.one('SUM(q.c)', 'MAX(q.c)', 'AVG(q.c)')} s {top} FROM ({inner}) q "
        f"{d.one(d.rows_window(), d.slide())} {d.maybe('WHERE q.c > 1')} GROUP BY {outer}"
    )


def share_panes(d: Draw) -> Case:
    slide = d.number(1, 3)
    length = slide * d.number(2, 4) + d.one("0", "0", "1").count("1")
    window = f"[RANGE {length} SECONDS {d.one('SLIDE', ', FREQUENCY')} {slide} SECONDS]"
    having = d.maybe("HAVING COUNT(*) > 1")
    return bound(
        d.one(
            f"SELECT {d.calls(MERGED_CALLS, 3)} FROM Readings {window} {d.maybe('WHERE ' + d.where())}",
            f"SELECT {d.calls(CALLS, 3)} FROM Readings {window} {d.maybe('WHERE ts >= window_start')} GROUP BY kind",
            f"SELECT {(group := d.group())}, {d.calls(MERGED_CALLS, 3)} FROM Readings {window} "
            f"{d.maybe('WHERE ' + d.where())} GROUP BY {group} {having}",
            f"SELECT id, v, MAX(x) m FROM Readings {window} GROUP BY id HAVING AVG(v) > 1",
            f"SELECT q.id, SUM(q.c) s FROM (SELECT id, COUNT(*) c FROM Readings {d.rows_window()} "
            f"GROUP BY id) q {window} GROUP BY q.id",
        )
    )


def reuse_views(d: Draw) -> Case:
    where = d.maybe("WHERE " + d.where())
    times = d.number(1, 3)
    calls = d.calls(count=3)
    asked = d.one(f"{calls.partition(' AS a0')[0]} AS a0", calls)
    name = asked.split(" AS ")[0]
    items = d.one(f"id, {asked}", f"{asked}, id + 1 AS next", f"{name} AS z, id")
    shapes = [
        ("[FREQUENCY {} TUPLES PARTITIONED BY id]", d.rows_window(), 2),
        ("[FREQUENCY {} SECONDS PARTITIONED BY id]", d.time_window(), 2),
        ("[FREQUENCY {} TUPLES]", d.rows_window(), 2),
        ("", "[RANGE 5 SECONDS SLIDE {} SECONDS]", 2),
        ("", "[RANGE 5 SECONDS, FREQUENCY {} SECONDS]", 1),
        ("", "[RANGE 5 SECONDS, FREQUENCY {} TUPLES PARTITIONED BY id]", 2),
        ("", d.time_window(), 1),
    ]
    result, window, unit = d.rng.choice(shapes)
    sql = "SELECT {items} {result} FROM Readings {alias} {window} {where} GROUP BY id {having}"
    if "TUPLES PARTITIONED BY id]" in window:
        where, having = "", ""
    else:
        having = d.maybe("HAVING COUNT(*) > 1")
    parts = {"where": where, "having": having}
    known = sql.format(items=f"id, {calls}", result=result.format(unit), window=window.format(unit), alias="", **parts)
    new = sql.format(
        items=items, result=result.format(unit * times), window=window.format(unit * times), alias="w", **parts
    )
    if d.number(0, 5) == 0:
        known = known.replace("RANGE 5", "RANGE 4").replace(f" {unit} ", f" {unit + 1} ")
    view = ViewDef("Known", (), bind_query(known, CATALOG))
    if d.number(0, 2) == 0:
        return bound(f"SELECT COUNT(*) n FROM ({new}) q {d.time_window()}", view)
    return bound(new, view)


TEMPLATES: dict[str, Callable[[Draw], Case]] = {rule.__name__: globals()[rule.__name__] for rule in RULES}
"""Each rule has the function of its name above."""
