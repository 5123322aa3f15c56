"""Plans as text, graph and picture: everything that a reader needs is there, and other programs can read it."""

import itertools
import re
from xml.etree import ElementTree

import pytest
from tests.algebra.plans import lookup, sliding

from slackwater.algebra.bind import bind
from slackwater.algebra.nodes import Plan, walk
from slackwater.app.render.graph import dot, mermaid
from slackwater.app.render.picture import layout, picture
from slackwater.app.render.tree import tree


@pytest.fixture(scope="module")
def toll() -> Plan:
    """Return the toll query of WIN's figure 6."""
    slow = sliding().group("segment").aggregate(average="AVG(speed)").alias("S")
    joined = sliding("V").join(slow.window(range="30 seconds", slide="30 seconds"), on="V.segment = S.segment")
    return bind(joined.where('average < 40 AND \'a"b`c\' <> "d"').select("vehID").plan, lookup)


def test_the_tree_of_a_small_plan_to_the_letter():
    plan = bind(sliding().aggregate(top="MAX(speed)").plan, lookup)
    every = "boundary order · every 30 seconds"
    assert tree(plan, verbose=True).plain.splitlines() == [
        "Emit FINAL",
        f"│    same columns · key () · class 2 weakest · {every} · local",
        "└─ Aggregate MAX(speed) AS top over all rows",
        f"   │    top double · key () · class 2 weakest · {every} · local",
        "   └─ Window RANGE 1 minute SLIDE 30 seconds",
        f"      │    same columns · no key · class 2 weakest · {every}",
        "      └─ Disorder DRATIO 0.1% (default) USING budget (default) IDLE 10 minutes (default) "
        "SKEW 5 minutes (default)",
        "         │    same columns · no key · class 1 monotonic · sequence order · every row",
        "         └─ Scan Sensors (event time ts)",
        "                 vehID int, segment int, speed double, ts timestamp · no key · class 1 monotonic · "
        "arrival order · every row",
    ]


def test_words_of_the_optimiser_are_left_out_unless_they_are_asked_for():
    plan = bind(sliding().aggregate(top="MAX(speed)").plan, lookup)
    said = tree(plan).plain
    assert "top double · key () · every 30 seconds" in said
    assert not re.search(r"class \d| order|local", said)
    assert said.count("\n") == tree(plan, verbose=True).plain.count("\n")


def test_every_operator_is_in_the_tree_once(toll: Plan):
    names = re.findall(r"^[│├└─ ]*([A-Z][a-z]+)\b(?! .* · )", tree(toll).plain, flags=re.MULTILINE)
    assert sorted(names) == sorted(type(each).__name__ for each in walk(toll))


def test_graphs_have_an_arrow_for_every_edge(toll: Plan):
    operators = len(walk(toll))
    assert mermaid(toll).count("-->") == operators - 1
    assert dot(toll).count(" -> ") == operators - 1


def test_quotes_in_a_query_do_not_break_a_graph(toll: Plan):
    labels = re.findall(r'label="((?:[^"\\]|\\.)*)"', dot(toll))
    assert len(labels) == 2 * len(walk(toll)) - 1
    assert not re.search(r'\["[^"]*"[^\]]*"\]', mermaid(toll))


def test_boxes_do_not_overlap(toll: Plan):
    root, _ = layout(toll)
    places = []

    def collect(box):
        places.append((box.y, box.x))
        for each in box.below:
            collect(each)

    collect(root)
    places.sort()
    assert all(b[1] - a[1] >= 1 for a, b in itertools.pairwise(places) if a[0] == b[0])


def test_an_svg_is_well_formed_and_a_png_is_a_png(toll: Plan):
    drawn = ElementTree.fromstring(picture([("before", toll), ("after", toll)], "svg"))  # noqa: S314 (our own output)
    assert drawn.tag.endswith("svg")
    assert picture([("plan", toll)], "png").startswith(b"\x89PNG")
