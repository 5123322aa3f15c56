"""The small fixed catalog over which random plans and streams are drawn.

`Readings` and `Events` share column names, so that joins must qualify them; `Pulses` has no arrival column; `Edits`
carries a change type.
"""

from __future__ import annotations

from slackwater.algebra.catalog import Catalog, StreamDef
from slackwater.algebra.schema import Field

READINGS = StreamDef(
    "Readings",
    (
        Field("id", "int"),
        Field("kind", "string"),
        Field("v", "int"),
        Field("x", "double"),
        Field("ts", "timestamp"),
        Field("arrived", "timestamp"),
        Field("host", "string"),
    ),
    event_time="ts",
    arrival="arrived",
    source="host",
)
EVENTS = StreamDef(
    "Events",
    (
        Field("id", "int"),
        Field("kind", "string"),
        Field("v", "int"),
        Field("ts", "timestamp"),
        Field("arrived", "timestamp"),
    ),
    event_time="ts",
    arrival="arrived",
)
PULSES = StreamDef("Pulses", (Field("id", "int"), Field("v", "int"), Field("ts", "timestamp")), event_time="ts")
EDITS = StreamDef(
    "Edits",
    (Field("op", "string"), Field("id", "int"), Field("v", "int"), Field("ts", "timestamp")),
    event_time="ts",
    change_type="op",
    key=("id",),
)
CATALOG = Catalog((READINGS, EVENTS, PULSES, EDITS))
"""Every stream that a random plan may read."""
