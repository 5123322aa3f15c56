"""The account of a drop ratio: how many rows may be late, how many were, and how fast to spend the rest."""

from __future__ import annotations

from math import exp, sqrt

from slackwater.disorder.budget.settings import DEFAULT, Settings
from slackwater.disorder.state import Fields, Value


class Account:
    """Rows allowed, rows late, and the level that follows from them.

    >>> account = Account(0.01)
    >>> account.enter(100_000, 870)
    >>> account.allowed, round(account.unspent), round(account.level, 4)
    (1000.0, 130, 0.0135)
    """

    __slots__ = ("_burst", "_dratio", "_lowest", "_settings", "late", "rows")

    def __init__(self, dratio: float, settings: Settings = DEFAULT) -> None:
        self._dratio = dratio
        self._settings = settings
        self.rows = self.late = 0
        self._lowest = self._burst = 0.0  # of late rows beyond the allowed ones: the least so far, the largest rise

    def enter(self, rows: int, late: int) -> None:
        """Count a batch."""
        self.rows += rows
        self.late += late
        excess = self.late - self.allowed
        self._lowest = min(self._lowest, excess)
        self._burst = max(self._burst, excess - self._lowest)

    @property
    def allowed(self) -> float:
        """D N: how many rows may be late so far."""
        return self._dratio * self.rows

    @property
    def unspent(self) -> float:
        return max(0.0, self.allowed - self.late)

    @property
    def reserve(self) -> float:
        """Rows that are kept back: for chance, and for another burst like the worst so far."""
        own, allowed = self._settings, self.allowed
        chance = own.reserve * allowed + own.reserve_deviations * sqrt(allowed) * min(1.0, allowed / 50)
        return max(chance, min(self._burst, own.burst_reserve * allowed))

    @property
    def level(self) -> float:
        """The share of rows that may be late from now on: D if the account is on its course, less if it is behind."""
        own, allowed = self._settings, self.allowed
        if allowed < own.cautious_rows:
            return self._dratio * exp(own.strictest)
        ahead = (allowed - self.reserve - self.late) / (own.gain_rows + own.gain_share * allowed)
        return self._dratio * exp(max(own.strictest, min(own.loosest, ahead)))

    def fields(self) -> dict[str, Value]:
        return {"rows": self.rows, "late": self.late, "lowest": self._lowest, "burst": self._burst}

    def restore(self, fields: Fields) -> None:
        self.rows, self.late = fields.integer("rows"), fields.integer("late")
        self._lowest, self._burst = fields.number("lowest"), fields.number("burst")
