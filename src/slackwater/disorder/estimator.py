"""What every estimator of the punctuation offers, and where all of them are found by name."""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy.typing as npt

from slackwater.disorder.clock import EARLIEST, Times
from slackwater.disorder.tally import Tally
from slackwater.errors import InputError, nearest

NO_PUNCTUATION = EARLIEST
"""Returned while there is no punctuation yet: no event time is smaller, so that no row is late."""

Sources = npt.NDArray[Any]
"""One value per row that names its sender."""


class Estimator(Protocol):
    """Learns from batches how far the stream is complete.

    The constructor takes ``dratio`` and ``unit`` by name, and parameters of its own; none of them changes
    afterwards. An estimator that does not use one of the two takes it all the same, so that all are built alike.
    """

    def observe(self, event: Times, arrival: Times, source: Sources | None = None) -> int:
        """The punctuation after this batch of rows in arrival order, never smaller than the one before.

        A row is late if its event time is smaller than what the *previous* call returned.
        """

    def state(self) -> bytes:
        """All that was learnt, as versioned bytes of bounded size."""

    def restore(self, state: bytes) -> None:
        """Continue as the estimator that gave these bytes would have."""


@runtime_checkable
class Tallying(Protocol):
    """An estimator that needs no more of a batch than its tally, once it has `started`."""

    @property
    def started(self) -> bool: ...

    def tallied(self, tally: Tally) -> int:
        """As `observe`, of rows that were added up."""


@runtime_checkable
class Explaining(Protocol):
    """An estimator that can say what holds its punctuation back."""

    def explain(self) -> str: ...


ESTIMATORS: dict[str, Callable[..., Estimator]] = {}
"""By the name that a query gives after USING. Complete as soon as ``slackwater.disorder`` is imported."""

Factory = TypeVar("Factory", bound=Callable[..., Estimator])


def named(name: str) -> Callable[[Factory], Factory]:
    """Enters a class or function that builds an estimator under its name."""

    def enter(factory: Factory) -> Factory:
        ESTIMATORS[name] = factory
        return factory

    return enter


def estimator(name: str, **parameters: Any) -> Estimator:
    """The estimator of this name, built with these parameters."""
    if name not in ESTIMATORS:
        raise InputError("SW-422", f"unknown estimator {name!r}", hint=nearest(name, ESTIMATORS))
    return ESTIMATORS[name](**parameters)


def z(dratio: float) -> float:
    """The papers' z(D): what a standard normal variable exceeds with probability D, and at least 0.

    >>> round(z(0.05), 2), round(z(0.01), 2)
    (1.64, 2.33)
    """
    if not 0 < dratio < 1:
        raise InputError(
            "SW-423",
            f"drop ratio {dratio} has no normal quantile",
            expected="a share between 0 and 1, both excluded",
            hint="write DRATIO 1% as 0.01",
        )
    return max(0.0, NormalDist().inv_cdf(1 - dratio))
