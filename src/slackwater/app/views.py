"""Views of a run: which of them this run keeps, and in which folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from slackwater.algebra.catalog import Pipeline, Script
from slackwater.app.plans.optimise import optimise
from slackwater.spark.run.sides import group_by_query
from slackwater.spark.run.views.folder import Folder, open_folder
from slackwater.spark.run.views.plans import log_name
from slackwater.spark.run.views.sharing import KeptView, Sharing, share
from slackwater.spark.store import Location

Sides = Mapping[str, tuple[Pipeline, ...]]
"""For the name of a pipeline, the pipelines that read its late, rejected or refused rows."""


def optimise_pipelines(script: Script) -> list[Pipeline]:
    """Return the pipelines of a script with their plans optimised."""
    return [replace(each, plan=optimise(each.plan, script.views).plan) for each in script.pipelines]


def share_views(script: Script, *, keep: bool = False) -> tuple[Sharing, Sides]:
    """Return the queries that run a script, including views, and for each pipeline the queries that read its sides.

    With `keep`, every view that can be kept gets a query of its own, else only views with two readers or more.
    """
    pairs = group_by_query(optimise_pipelines(script))
    sides = {pipeline.name: readers for pipeline, readers in pairs if readers}
    return share(script.views, [pipeline for pipeline, _ in pairs], keep=keep, sides=sides), sides


@dataclass(frozen=True, slots=True)
class OpenView:
    """A kept view in its folder; `mine` if this run keeps it, not another one."""

    kept: KeptView
    folder: Folder
    mine: bool

    @property
    def stream(self) -> str:
        return log_name(self.kept.view.name)

    @property
    def told(self) -> str:
        return f"{self.kept.name} is kept by {'this' if self.mine else 'another'} run, in {self.folder.path}"


@contextmanager
def open_views(kept: Sequence[KeptView], place: Location) -> Iterator[list[OpenView]]:
    """Open the folder of each view and lock those that no other run keeps; unlock them at the end of the run."""
    with ExitStack() as held:
        found = []
        for each in kept:
            folder = open_folder(place, each.view)
            lock = folder.claim()
            found.append(OpenView(each, folder, lock is not None))
            if lock is not None:
                held.enter_context(lock)
        yield found
