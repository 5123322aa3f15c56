"""The number of random cases of a law: all of them in `make test`, a tenth in `make quick`."""

from __future__ import annotations

import os

SHARE = float(os.environ.get("SLACKWATER_CASES", "1"))
"""The share of its cases that each law runs. A larger share finds more faults and takes longer."""
FEWEST = 2


def law_cases(number: int) -> int:
    """Return how many of a law's cases to run: the share of `number`, but at least two."""
    return max(min(FEWEST, number), round(number * SHARE))
