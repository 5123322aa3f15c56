"""What the driver records, and where it stops."""

from slackwater.algebra.nodes import Project, Scan, Select, View, Window, inputs, walk, with_inputs
from slackwater.lang import bind_query, parse_script
from slackwater.rewrite import RULES, Rewritten, rewrite
from slackwater.rewrite.change import Replacement
from slackwater.rewrite.driver import MOST_STEPS
from slackwater.testing.catalog import CATALOG

QUERY = "SELECT MAX(v) AS top FROM Readings [RANGE 5 MINUTES SLIDE 1 MINUTE] WHERE kind = 'a'"


def test_a_step_is_the_part_that_changed():
    step = rewrite(bind_query(QUERY, CATALOG)).steps[0]
    assert step.rule == "push_selects_below_windows"
    assert "kind = 'a'" in step.why
    assert isinstance(step.before, Select)
    assert isinstance(step.after, Window)


def test_the_steps_lead_from_the_plan_to_the_rewritten_one():
    plan = bind_query(QUERY, CATALOG)
    done = rewrite(plan)
    for step in done.steps:
        assert step.before in walk(plan)
        plan = replaced(plan, step.before, step.after)
    assert plan == done.plan


def test_nothing_fires_on_a_plan_that_is_as_it_should_be():
    plan = bind_query("SELECT v FROM Readings", CATALOG)
    assert rewrite(plan) == Rewritten(plan, ())


def test_the_first_rule_that_fires_is_tried_first():
    order = [step.rule for step in rewrite(bind_query(QUERY, CATALOG)).steps]
    names = [rule.__name__ for rule in RULES]
    assert order == sorted(order, key=names.index)


def test_a_rule_that_would_go_on_for_ever_is_stopped():
    def turn_round(plan, context):
        return Replacement(Project(plan.child, plan.items[::-1]), "round") if isinstance(plan, Project) else None

    assert len(rewrite(bind_query(QUERY, CATALOG), rules=[turn_round]).steps) == MOST_STEPS


def test_what_a_view_computes_is_left_alone():
    views = parse_script(f"CREATE VIEW Tops AS {QUERY}", catalog=CATALOG).views
    done = rewrite(bind_query(QUERY, CATALOG), views)
    assert [step.rule for step in done.steps] == ["reuse_views"]
    view = next(each for each in walk(done.plan) if isinstance(each, View))
    assert view.query == views[0].query.child
    assert sum(isinstance(each, Scan) for each in walk(done.plan)) == 1


def test_a_view_is_answered_from_those_before_it_alone():
    views = parse_script(f"CREATE VIEW One AS {QUERY}; CREATE VIEW Two AS {QUERY}", catalog=CATALOG).views
    read = [[each.name for each in walk(rewrite(view.query, views).plan) if isinstance(each, View)] for view in views]
    assert read == [[], ["One"]]


def replaced(plan, before, after):
    if plan == before:
        return after
    return with_inputs(plan, tuple(replaced(each, before, after) for each in inputs(plan)))
