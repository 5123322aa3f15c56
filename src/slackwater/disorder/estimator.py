"""The interface of estimators, and their registry by name."""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy.typing as npt

from slackwater.disorder.clock import EARLIEST, Times
from slackwater.disorder.tally import Tally
from slackwater.errors import InputError, nearest

NO_PUNCTUATION = EARLIEST
"""The value before there is a punctuation. No event time is smaller, so no row is late."""

Sources = npt.NDArray[Any]
"""One value per row that names its sender."""


class Estimator(Protocol):
    """Learns from batches how far the stream is complete.

    The constructor takes ``dratio`` and ``unit`` by name, and parameters of its own; none of them changes afterwards.
    An estimator accepts both even if it does not use them, so that all are built alike.
    """

    def observe(self, event: Times, arrival: Times, source: Sources | None = None) -> int:
        """Return the punctuation after this batch of rows in arrival order. It never decreases.

        A row is late if its event time is smaller than the result of the *previous* call.
        """

    def state(self) -> bytes:
        """Return everything learnt, as versioned bytes of bounded size."""

    def restore(self, state: bytes) -> None:
        """Continue from the state of another estimator with the same parameters."""


@runtime_checkable
class Tallying(Protocol):
    """An estimator that can read tallies instead of rows, once it has `started`."""

    @property
    def started(self) -> bool: ...

    def tallied(self, tally: Tally) -> int:
        """Return the punctuation after a batch given as a tally."""


@runtime_checkable
class Excusing(Protocol):
    """An estimator that waits for senders, and can be told which of them have a wrong clock."""

    def excuse(self, wrong: Sources, honest: Sources) -> None:
        """Take the senders of a batch's suspect rows, and those of its other rows."""


@runtime_checkable
class Explaining(Protocol):
    """An estimator that can explain its punctuation."""

    def explain(self) -> str: ...


ESTIMATORS: dict[str, Callable[..., Estimator]] = {}
"""Estimators by the name after USING. Complete as soon as ``slackwater.disorder`` is imported."""

Factory = TypeVar("Factory", bound=Callable[..., Estimator])


def named(name: str) -> Callable[[Factory], Factory]:
    """Register a class or function that builds an estimator under this name."""

    def enter(factory: Factory) -> Factory:
        ESTIMATORS[name] = factory
        return factory

    return enter


def estimator(name: str, **parameters: Any) -> Estimator:
    """Return the estimator of this name, built with these parameters."""
    if name not in ESTIMATORS:
        raise InputError("SW-422", f"unknown estimator {name!r}", hint=nearest(name, ESTIMATORS))
    return ESTIMATORS[name](**parameters)


def z(dratio: float) -> float:
    """Return the papers' z(D): the value that a standard normal variable exceeds with probability D, at least 0.

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
