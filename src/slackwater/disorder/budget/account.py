"""The account of a drop ratio: how many rows may be late, how many were, and how fast to spend the rest."""

from __future__ import annotations

from math import exp

from slackwater.disorder.budget.settings import DEFAULT, Settings
from slackwater.disorder.state import Fields, Value


class RatioAccount:
    """Counts the rows that may be late and those that were, and derives the level from them.

    >>> account = RatioAccount(0.01)
    >>> account.enter(100_000, 870)
    >>> account.allowed, round(account.spare), round(account.level, 4)
    (1000.0, 100, 0.01)
    """

    __slots__ = ("_dratio", "_settings", "late", "rows")

    def __init__(self, dratio: float, settings: Settings = DEFAULT) -> None:
        self._dratio = dratio
        self._settings = settings
        self.rows = self.late = 0

    def enter(self, rows: int, late: int) -> None:
        """Count a batch."""
        self.rows += rows
        self.late += late

    @property
    def allowed(self) -> float:
        """Return D N: how many rows may be late so far."""
        return self._dratio * self.rows

    @property
    def spare(self) -> float:
        """Return how many rows may be late now, less the reserve; negative in a debt."""
        return (1 - self._settings.reserve) * self.allowed - self.late

    @property
    def strictest(self) -> float:
        """Return the smallest level: it applies in a large debt, and before D N has come to a few rows."""
        return self._dratio * exp(self._settings.strictest)

    @property
    def level(self) -> float:
        """Return the share of rows that may be late from now on: D if there are rows to spare, less in a debt."""
        own, allowed = self._settings, self.allowed
        if allowed < own.cautious_rows:
            return self.strictest
        ahead = self.spare / (own.gain_rows + own.gain_share * allowed)
        return max(self.strictest, self._dratio * exp(min(0.0, ahead)))

    def fields(self) -> dict[str, Value]:
        return {"rows": self.rows, "late": self.late}

    def restore(self, fields: Fields) -> None:
        self.rows, self.late = fields.integer("rows"), fields.integer("late")
