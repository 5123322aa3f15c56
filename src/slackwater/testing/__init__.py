"""What users need to test their queries; and random plans and streams, fault sentinels, a fake clock.

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
    """Names are loaded when they are first used: pytest loads this package with its plugin, in every run."""
    if name not in __all__:
        raise AttributeError(f"module 'slackwater.testing' has no attribute '{name}'")
    return getattr(import_module("slackwater.testing.cases"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
