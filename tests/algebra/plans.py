"""Plans that the tests of this folder share."""

from dataclasses import replace

from slackwater.algebra.bind import bind
from slackwater.algebra.builder import Query, scan
from slackwater.algebra.nodes import Emit, Plan, Scan
from slackwater.algebra.schema import Field

SENSORS = tuple(
    Field(name, kind) for name, kind in [("vehID", "int"), ("segment", "int"), ("speed", "double"), ("ts", "timestamp")]
)


def lookup(plan: Scan) -> Scan:
    change = "op" if plan.stream == "Changes" else None
    return replace(plan, fields=SENSORS, event_time="ts", change_type=change, key=("vehID",) if change else ())


def bound(query: Query) -> Plan:
    """Return the bound plan below its Emit."""
    root = bind(query.plan, lookup)
    assert isinstance(root, Emit)
    return root.child


def rows(stream: str = "Sensors", alias: str | None = None) -> Query:
    return scan(stream, alias)


def ranged(alias: str | None = None, seconds: int = 30) -> Query:
    return rows(alias=alias).window(range=f"{seconds} seconds")


def sliding(alias: str | None = None, slide: str = "30 seconds") -> Query:
    return rows(alias=alias).window(range="60 seconds", slide=slide)
