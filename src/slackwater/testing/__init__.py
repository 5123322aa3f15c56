"""Tools to test queries (`run_case`), and random plans and streams for the project's own tests.

>>> import slackwater as sw
>>> found = sw.testing.run_case(
...     '''
...     SELECT COUNT(*) AS n FROM Clicks [RANGE 10 seconds SLIDE 10 seconds]
...
...     Clicks | ts | page
...     0      | 3  | home
...     0      | 8  | cart
...     flush
...
...     result | time | n
...     1      | 10-  | 2
...     ''',
...     "CREATE STREAM Clicks (page STRING, ts TIMESTAMP) USING json TIMESTAMP BY ts;",
... )
>>> found["result"]
[{'batch': 1, 'time': 9999999, 'n': 2}]
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from slackwater.testing.cases import CaseFailed, run_case, run_cases

__all__ = ["CaseFailed", "run_case", "run_cases"]


def __getattr__(name: str) -> Any:
    """Load names when they are first used, because pytest imports this package with its plugin in every run."""
    if name not in __all__:
        raise AttributeError(f"module 'slackwater.testing' has no attribute '{name}'")
    return getattr(import_module("slackwater.testing.cases"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
