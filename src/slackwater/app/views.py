"""Views of a run: which of them this run keeps, in which folder, and what is told about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from slackwater.algebra.catalog import Pipeline, Script
from slackwater.app.plans.optimise import optimise
from slackwater.spark.run.sides import arranged
from slackwater.spark.run.views.folder import Folder, open_folder
from slackwater.spark.run.views.reading import log_name
from slackwater.spark.run.views.sharing import KeptView, Sharing, share
from slackwater.spark.store import Location

Sides = Mapping[str, tuple[Pipeline, ...]]


def rewritten(script: Script) -> list[Pipeline]:
    """The pipelines with their plans optimised."""
    return [replace(each, plan=optimise(each.plan, script.views).plan) for each in script.pipelines]


def shared(script: Script, *, keep: bool = False) -> tuple[Sharing, Sides]:
    """The queries that a script is run as, and for each pipeline those that read its sides."""
    pairs = arranged(rewritten(script))
    sides = {pipeline.name: readers for pipeline, readers in pairs if readers}
    return share(script.views, [pipeline for pipeline, _ in pairs], keep=keep, sides=sides), sides


@dataclass(frozen=True, slots=True)
class Opened:
    """A kept view in its folder; `mine` if no other run keeps it, so that this one does."""

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
def opened(kept: Sequence[KeptView], place: Location) -> Iterator[list[Opened]]:
    """The views, for as long as the run lasts: then another run may keep them."""
    with ExitStack() as held:
        found = []
        for each in kept:
            folder = open_folder(place, each.view)
            lock = folder.claim()
            found.append(Opened(each, folder, lock is not None))
            if lock is not None:
                held.enter_context(lock)
        yield found
