"""The rules, in the order in which they are tried. After a rule has fired, the driver starts again with the first.

Why this ends: every rule makes one of these measures smaller and none before it in this list larger.

1. queries that a view can answer and does not (reuse_views)
2. windows and frequencies, counted together (frequencies into windows and slides, idle windows, composition)
3. windows below a subquery whose boundaries are read less often than they come (distribute_frequencies)
4. frequencies above an aggregate, which compute rows that are not asked for (below_aggregates)
5. conjuncts, each counted with the operators below it (the rules that push selections, interleave_selections)
6. columns that an operator yields and nobody reads (push_down_projects)
7. windows that could be partitioned and are not, aggregates that could share panes and do not

Splitting separates only conjuncts that a rule of line 5 then moves; merging joins only conjuncts that none can move.
"""

from __future__ import annotations

from slackwater.rewrite.change import Rule
from slackwater.rewrite.laws.compose_frequencies import compose_frequencies
from slackwater.rewrite.laws.distribute_frequencies import distribute_frequencies
from slackwater.rewrite.laws.drop_idle_windows import drop_idle_windows
from slackwater.rewrite.laws.interleave_selections import interleave_selections
from slackwater.rewrite.laws.merge_selections import merge_selections
from slackwater.rewrite.laws.push_down_projects import push_down_projects
from slackwater.rewrite.laws.push_frequencies_below_aggregates import push_frequencies_below_aggregates
from slackwater.rewrite.laws.push_frequencies_into_windows import push_frequencies_into_windows
from slackwater.rewrite.laws.push_selects_below_aggregates import push_selects_below_aggregates
from slackwater.rewrite.laws.push_selects_below_frequencies import push_selects_below_frequencies
from slackwater.rewrite.laws.push_selects_below_joins import push_selects_below_joins
from slackwater.rewrite.laws.push_selects_below_projects import push_selects_below_projects
from slackwater.rewrite.laws.push_selects_below_windows import push_selects_below_windows
from slackwater.rewrite.laws.reuse_views import reuse_views
from slackwater.rewrite.laws.share_panes import share_panes
from slackwater.rewrite.laws.share_partitionings import share_partitionings
from slackwater.rewrite.laws.split_selections import split_selections
from slackwater.rewrite.laws.turn_frequencies_into_slides import turn_frequencies_into_slides

RULES: tuple[Rule, ...] = (
    reuse_views,
    turn_frequencies_into_slides,
    push_frequencies_into_windows,
    drop_idle_windows,
    split_selections,
    push_selects_below_projects,
    push_selects_below_aggregates,
    push_selects_below_joins,
    interleave_selections,
    push_selects_below_frequencies,
    push_selects_below_windows,
    merge_selections,
    compose_frequencies,
    push_frequencies_below_aggregates,
    distribute_frequencies,
    push_down_projects,
    share_partitionings,
    share_panes,
)
