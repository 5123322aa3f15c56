"""The account of a drop ratio: how many rows may be late, how many were, and how fast to spend what is left."""

from __future__ import annotations

from math import sqrt

from slackwater.disorder.state import Fields, Value

STRICTEST, LOOSEST = -2.0, 0.1
STEADY_LOOSEST = 0.3
CAUTIOUS = 20.0  # rows that the budget must have come to before any of it is spent on a stream that is not settled
FEW = 50.0  # rows below which a budget is too small to be told from chance
CREDIT = 10.0  # rows that a settled stream may spend before they are earned, repaid when the budget comes to FEW
WORST = 0.25  # of the budget: the most that is kept for another burst


class Account:
    """Rows allowed, rows late, and a reserve: for chance, and for another burst of late rows like the worst so far.

    >>> account = Account(0.01)
    >>> account.enter(10_000, 20)
    >>> account.correction(settled=True), account.allowed
    (0.1, 100.0)
    """

    __slots__ = ("_burst", "_dratio", "_lowest", "late", "rows")

    def __init__(self, dratio: float) -> None:
        self._dratio = dratio
        self.rows = self.late = 0
        self._lowest = self._burst = 0.0  # of what was late beyond what was allowed: the least, the largest rise

    def enter(self, rows: int, late: int) -> None:
        self.rows += rows
        self.late += late
        excess = self.late - self.allowed
        self._lowest = min(self._lowest, excess)
        self._burst = max(self._burst, excess - self._lowest)

    @property
    def allowed(self) -> float:
        return self._dratio * self.rows

    @property
    def small(self) -> bool:
        """Too small to pay for an error."""
        return self.allowed < CAUTIOUS

    @property
    def few(self) -> bool:
        return self.allowed < FEW

    def correction(self, *, settled: bool, steady: bool = False) -> float:
        """The logarithm by which the level is lowered or raised: what is left of the budget, less a reserve.

        The account of a steady stream stays within a quarter of a deviation of its aim, so that 0.8 are enough; if it
        has overspent, it has not been that steady.
        """
        if self.small and not settled:
            return STRICTEST
        deviation = sqrt(self.allowed) * min(1.0, self.allowed / FEW)
        kept = steady and self.late <= self.allowed
        burst = min(self._burst, WORST * self.allowed)
        reserve = 0.8 * deviation if kept else max(0.02 * self.allowed + 1.5 * deviation, burst)
        credit = CREDIT * max(0.0, min(1.0, 2 - 2 * self.allowed / FEW)) if settled else 0.0
        left = (self.allowed + credit - reserve - self.late) / (10 + 0.15 * self.allowed)
        # What is left is chance's, up to a deviation: where the budget is small, that is much of it.
        loosest = min(STEADY_LOOSEST, LOOSEST + 0.5 / sqrt(self.allowed)) if kept else LOOSEST
        return max(STRICTEST, min(loosest, left))

    def fields(self) -> dict[str, Value]:
        return {"rows": self.rows, "late": self.late, "lowest": self._lowest, "burst": self._burst}

    def restore(self, fields: Fields) -> None:
        self.rows, self.late = fields.integer("rows"), fields.integer("late")
        self._lowest, self._burst = fields.number("lowest"), fields.number("burst")
