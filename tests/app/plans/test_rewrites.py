"""What `explain --rewrites` shows."""

import json

from rich.console import Console

from slackwater.app.plans.explain import draw_plans, write_plans
from slackwater.app.plans.formats import Format
from slackwater.app.plans.rewrites import diff_step, document, outline, report
from slackwater.lang import bind_query, parse_script
from slackwater.rewrite import rewrite
from slackwater.testing.catalog import CATALOG

PULSE_RATE = (
    "SELECT P.id, COUNT(*) [FREQUENCY 10 TUPLES PARTITIONED BY P.id] AS rate "
    "FROM Pulses P [RANGE 1 MINUTE, FREQUENCY 1 TUPLE] GROUP BY P.id"
)


def shown(sql: str, views=()) -> str:
    console = Console(width=160, no_color=True)
    with console.capture() as captured:
        console.print(report(bind_query(sql, CATALOG), views))
    return captured.get()


def test_both_plans_every_rule_and_what_it_saves():
    """Of 1,000 rows a second each had a window of a minute's 60,000 rows; now every tenth, of its own id's 600."""
    text = shown(PULSE_RATE)
    assert text.index("before") < text.index("1. push_frequencies_below_aggregates") < text.index("after")
    assert "- Frequency every 10 tuples partitioned by id" in text
    assert "+   Window RANGE 1 minute EVERY 10 tuples partitioned by id" in text
    lines = {line.split("  ")[0].strip(): line.split() for line in text.splitlines()}
    assert lines["windows computed per 1,000 rows in"][-4:] == ["1,000", "100", "÷", "10"]
    assert lines["rows evaluated per 1,000 rows in"][-4:] == ["60,001,000", "60,000", "÷", "1,000"]


def test_a_plan_that_no_rule_changes_is_shown_once():
    text = shown("SELECT v FROM Pulses")
    assert "No rule applies" in text
    assert text.count("Scan Pulses") == 1


def test_a_view_that_answers_is_named():
    views = parse_script(f"CREATE VIEW Rates AS {PULSE_RATE}", catalog=CATALOG).views
    assert "the view Rates has these rows, of which every 3 tuples is asked for" in shown(
        PULSE_RATE.replace("10 TUPLES", "30 TUPLES"), views
    )


def test_a_view_is_not_answered_from_itself_in_any_form():
    script = parse_script(f"CREATE VIEW One AS {PULSE_RATE}; CREATE VIEW Two AS {PULSE_RATE}", catalog=CATALOG)
    steps = [report["steps"] for report in json.loads(write_plans(script, Format.JSON, rewritten=True)).values()]
    assert ["reuse_views" in [step["rule"] for step in each] for each in steps] == [False, True]
    for form in (Format.DOT, Format.MERMAID):
        assert write_plans(script, form, rewritten=True).count("View") == 1
    assert draw_plans(script, Format.SVG, rewritten=True).count(b"View") == 1


def test_a_step_shows_what_was_taken_away_and_put_in():
    plan = bind_query("SELECT MAX(v) AS m FROM Readings [RANGE 1 MINUTE] WHERE kind = 'a'", CATALOG)
    assert list(diff_step(rewrite(plan).steps[0])) == [
        "- Select kind = 'a'",
        "-   Window RANGE 1 minute",
        "+ Window RANGE 1 minute",
        "+   Select kind = 'a'",
    ]


def test_the_document_is_for_programs():
    told = json.loads(json.dumps(document(bind_query(PULSE_RATE, CATALOG))))
    assert told["steps"][0]["rule"] == "push_frequencies_below_aggregates"
    assert told["before"] != told["after"]
    assert told["estimate"]["before"]["windows"] == 10 * told["estimate"]["after"]["windows"]


def test_the_outline_has_one_line_per_operator():
    assert [line.split()[0] for line in outline(bind_query("SELECT v FROM Pulses", CATALOG))] == [
        "Emit",
        "Project",
        "Disorder",
        "Scan",
    ]
