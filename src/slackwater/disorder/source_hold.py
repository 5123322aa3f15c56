"""Wait for senders that are behind, for estimators that do not consider senders themselves."""

from __future__ import annotations

from slackwater.defaults import IDLE_SECONDS
from slackwater.disorder.budget.senders import Senders
from slackwater.disorder.clock import LATEST, Times, ticks_per_second
from slackwater.disorder.estimator import Sources
from slackwater.disorder.state import pack, unpack

VERSION = 2


class SourceHold:
    """Keeps the punctuation of any estimator before the last row of a sender that is behind, until IDLE has passed.

    >>> import numpy as np
    >>> hold = SourceHold(unit="s")
    >>> for steady in np.split(np.arange(1_000), 10):
    ...     reached = hold.observe(steady, steady, steady % 2)
    >>> reached == LATEST
    True
    >>> for alone in np.split(np.arange(1_000, 1_500), 5):
    ...     reached = hold.observe(alone, alone, np.zeros(100, np.int64))
    >>> reached  # sender 1 fell silent after its row of 999
    999
    """

    __slots__ = ("_senders",)

    def __init__(self, idle: int | None = None, *, unit: str = "us") -> None:
        self._senders = Senders(IDLE_SECONDS * ticks_per_second(unit) if idle is None else idle)

    def observe(self, event: Times, arrival: Times, source: Sources) -> int:
        if len(event):
            self._senders.observe(event, arrival, source)
        return self._senders.reach(LATEST, 0.0)

    def state(self) -> bytes:
        return pack("sources", VERSION, self._senders.fields())

    def restore(self, state: bytes) -> None:
        self._senders.restore(unpack(state, "sources", VERSION))
