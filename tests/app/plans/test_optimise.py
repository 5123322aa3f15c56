"""What the optimiser promises is what runs."""
# ruff: noqa: S608 (no query here reaches a database)

import pytest

from slackwater.algebra.nodes import Aggregate, walk
from slackwater.app.plans.optimise import optimise
from slackwater.lang import bind_query
from slackwater.spark.planner.ways import Host, way_of
from slackwater.testing.catalog import CATALOG

WIDE, NARROW = "[RANGE 60 seconds SLIDE 1 second]", "[RANGE 5 seconds SLIDE 1 second]"


@pytest.mark.parametrize(
    ("text", "host"),
    [
        (f"SELECT id, MAX(v) AS m FROM Readings {WIDE} GROUP BY id", Host.FUSED),
        (f"SELECT id, MAX(v) AS m FROM Readings {NARROW} GROUP BY id", Host.NATIVE),
        (f"SELECT id, MAX(v) AS m, COLLECT_LIST(v) AS l FROM Readings {WIDE} GROUP BY id", Host.NATIVE),
        (f"SELECT a.id, b.m FROM Readings AS a {WIDE}, (SELECT MAX(v) AS m FROM Events {WIDE}) AS b", Host.NATIVE),
        (f"SELECT id, MAX(v) AS m FROM Readings {NARROW} GROUP BY id EMIT CHANGES", Host.FUSED),
        (
            f"SELECT m FROM (SELECT MAX(v) AS m FROM Readings {NARROW}) AS q [RANGE 3 TUPLES, FREQUENCY 2 TUPLES]",
            Host.FUSED,
        ),
    ],
)
def test_panes_are_shared_only_where_the_fused_operator_keeps_them(text: str, host: Host):
    done = optimise(bind_query(text, CATALOG))
    assert way_of(done.plan).host is host
    shares = "share_panes" in [step.rule for step in done.steps]
    assert shares == any(isinstance(node, Aggregate) and node.pane for node in walk(done.plan)) == (host is Host.FUSED)
