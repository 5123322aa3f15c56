"""σ[c](π[a](R)) = π[a](σ[c'](R)), where c' is c with every name of the select list replaced by its expression."""

from __future__ import annotations

from dataclasses import replace

from slackwater.algebra.nodes import Plan, Project, Select, Subquery
from slackwater.rewrite.change import Context, Replacement
from slackwater.rewrite.passage import passes
from slackwater.rewrite.references import substitute


def push_selects_below_projects(plan: Plan, context: Context) -> Replacement | None:
    """Move a selection below a select list, also into a subquery below its select list."""
    match plan:
        case Select(child=Project() as project, condition=condition):
            if not passes(condition, project, context):
                return None
            return Replacement(_below(project, plan), f"{condition} can be tested on what the select list reads")
        case Select(child=Subquery(query=Project() as project) as subquery, condition=condition):
            if not passes(condition, subquery, context):
                return None
            inside = replace(subquery, query=_below(project, plan))
            return Replacement(inside, f"{condition} can be tested inside {subquery.alias}")
    return None


def _below(project: Project, select: Select) -> Project:
    return replace(project, child=Select(project.child, substitute(select.condition, project.items)))
