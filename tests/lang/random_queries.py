"""Random queries as text, most of them right: sources, windows, joins, groups, frequencies, set operations."""
# ruff: noqa: S608 (no query here reaches a database)

from __future__ import annotations

import random
from dataclasses import dataclass

STREAMS = {
    "Sensors": {"vehID": "n", "segment": "n", "speed": "n", "place.road": "s", "ts": "t"},
    "Pulse": {"Id": "n", "Timestamp": "t"},
    "BodyCondition": {"Id": "n", "Species": "s", "BTemp": "n", "BloodP": "n", "Timestamp": "t"},
}
TIMES = ["1 second", "90 SECONDS", "5 minutes", "1 Hour", "250 milliseconds", "1 day"]
ROWS = ["1 tuple", "10 TUPLES", "3 rows"]


@dataclass
class Queries:
    """Draws from a seeded generator, so that a failure can be had again."""

    rng: random.Random
    slide: str = ""
    """Every window of a join has this slide; none: all are at rows."""
    columns: int = 0
    """Of the select that was made last."""

    def query(self, depth: int = 2) -> str:
        text = self.select(depth)
        while self.chance(0.15):
            text = f"{text} UNION ALL {self.select(depth, columns=self.columns)}"
        return f"{text}{self.emit()}"

    def select(self, depth: int, columns: int | None = None) -> str:
        self.slide = self.pick(["", "1 minute", "30 seconds"])
        sources, known = self.sources(depth)
        grouped = self.chance(0.5)
        keys = self.some(list(known), 2) if grouped else []
        self.columns = count = columns or self.rng.randint(1, 4)
        items = [self.item(number, known, grouped) for number in range(count)]
        where = f" WHERE {self.condition(known)}" if self.chance(0.4) else ""
        group = f" GROUP BY {', '.join(self.spelled(key) for key in keys)}" if keys else ""
        having = f" HAVING {self.aggregate(known)} > {self.rng.randint(0, 9)}" if grouped and self.chance(0.4) else ""
        distinct = "DISTINCT " if self.chance(0.1) else ""
        at = self.rng.randrange(count)
        if not distinct and self.chance(0.3):
            items[at] += f" [{self.frequency(known)}]"
        return f"SELECT {distinct}{', '.join(items)} FROM {sources}{where}{group}{having}"

    def emit(self) -> str:
        """Return a spelling of EMIT CHANGES, which every query allows."""
        return self.pick([" EMIT CHANGES", " emit on update", " EMIT\n CHANGES"])

    def sources(self, depth: int) -> tuple[str, dict[str, str]]:
        count = self.pick([1, 1, 1, 2, 3])
        joined, known = "", {}
        for number in range(count):
            alias = "ABC"[number]
            part, columns = self.source(depth, alias, single=count == 1)
            known |= {f"{alias}.{name}": kind for name, kind in columns.items()}
            join = [f", {part}", f" CROSS JOIN {part}", f" JOIN {part} ON {self.comparison(known)}"]
            joined += self.pick(join) if joined else part
        return joined, known

    def source(self, depth: int, alias: str, *, single: bool) -> tuple[str, dict[str, str]]:
        if depth and self.chance(0.25):
            outer = self.slide
            inner = self.select(depth - 1)
            self.slide = outer
            columns = {f"c{number}": "n" for number in range(self.columns)}
            name = self.pick([f"AS {alias}", alias, f"AS Nested {alias}"])
            return f"({inner}) {name} [{self.window(columns, single=single)}]", columns
        stream = self.pick(list(STREAMS))
        columns = STREAMS[stream]
        clauses = [self.window(columns, single=single), *self.policy()]
        self.rng.shuffle(clauses)
        bracket = f"[{self.pick([' ', ', ']).join(clauses)}]"
        return self.pick([f"{stream} {alias} {bracket}", f"{stream} {bracket} AS {alias}"]), columns

    def window(self, columns: dict[str, str], *, single: bool) -> str:
        if self.slide:
            return f"RANGE {self.pick(TIMES)} SLIDE {self.slide}"
        if not single or self.chance(0.5):
            return f"RANGE {self.pick(TIMES + ROWS)}"
        by = f" PARTITIONED BY {self.pick([name for name in columns if '.' not in name])}" if self.chance(0.5) else ""
        return f"RANGE {self.pick(TIMES + ROWS)}, FREQUENCY {self.pick(TIMES + ROWS)}{by}"

    def policy(self) -> list[str]:
        ratio = f"DRATIO {self.pick(['1', '0.1', '12.5', '99.9', '33.333'])}%"
        using = self.pick(["", " USING budget", " using two-max", " USING Max_Delay"])
        ratio += using + self.pick(["", " WITHIN 30 seconds", " within 2 minutes"])
        choices = [ratio, f"SLACK {self.rng.randint(0, 99)}", "BSIZE 7", "IDLE 30 seconds", "skew 5 minutes"]
        return self.some(choices, 2)

    def frequency(self, known: dict[str, str]) -> str:
        columns = [name for name in known if name.count(".") == 1]
        by = f" PARTITIONED BY {', '.join(self.some(columns, 2))}" if columns and self.chance(0.5) else ""
        return f"FREQUENCY {self.pick(TIMES + ROWS)}{by}".removesuffix(" PARTITIONED BY ")

    def item(self, number: int, known: dict[str, str], grouped: bool) -> str:
        inner = self.aggregate(known) if grouped and self.chance(0.6) else self.number(known)
        return f"{inner} AS c{number}"

    def aggregate(self, known: dict[str, str]) -> str:
        value = self.number(known)
        return self.pick(
            ["COUNT(*)", f"AVG({value})", f"max({value})", f"SUM({value}) / COUNT(*)", f"COUNT(DISTINCT {value})",
             f"MIN({value}) FILTER (WHERE {self.comparison(known)})", f"LAST({value})", f"(MAX({value}) - 1) * 2"]
        )  # fmt: skip

    def number(self, known: dict[str, str], depth: int = 2) -> str:
        columns = [name for name, kind in known.items() if kind == "n"]
        leaf = self.spelled(self.pick(columns)) if columns and self.chance(0.8) else str(self.rng.randint(0, 99))
        if not depth or self.chance(0.5):
            return leaf
        one, two = self.number(known, depth - 1), self.number(known, depth - 1)
        forms = [
            *(f"{one} + {two}", f"({one} - {two}) * 2", f"-{leaf}", f"ABS({one})", f"{one} % 7", f"({leaf})"),
            *(f"COALESCE({one}, {two})", f"CASE WHEN {one} > {two} THEN {one} ELSE 0 END", f"CAST({one} AS DOUBLE)"),
        ]
        return self.pick(forms)

    def comparison(self, known: dict[str, str]) -> str:
        sign = self.pick(["=", "<>", "!=", "<", ">="])
        return f"{self.number(known, 1)} {sign} {self.number(known, 1)}"

    def condition(self, known: dict[str, str], depth: int = 2) -> str:
        one = self.comparison(known)
        if not depth or self.chance(0.5):
            return one
        two = self.condition(known, depth - 1)
        listed, between = f"{self.number(known, 1)} IN (1, 2)", f"{self.number(known, 1)} NOT BETWEEN 1 AND 5"
        return self.pick([f"{one} AND {two}", f"({one} OR {two})", f"NOT ({two})", f"{one} OR {two}", listed, between])

    def spelled(self, name: str) -> str:
        return self.pick([name, name, name.upper(), name.lower()])

    def chance(self, share: float) -> bool:
        return self.rng.random() >= 1 - share

    def pick(self, choices: list) -> object:
        return self.rng.choice(choices)

    def some(self, choices: list, most: int) -> list:
        return self.rng.sample(choices, min(len(choices), self.rng.randint(0, most)))
