"""Continuous SQL on Spark over streams that arrive late and out of order.

>>> import slackwater as sw
>>> query = sw.scan("Pulse").window(range="1 minute").group("Id").count().frequency(10, by="Id")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from slackwater import dashboard as dashboard
    from slackwater import testing
    from slackwater.algebra.builder import scan
    from slackwater.app.frames import sql, stream
    from slackwater.app.front import advise, explain, run
    from slackwater.app.live.notebook import watch
    from slackwater.errors import SlackwaterError
    from slackwater.spark.operator.late import late
    from slackwater.spark.run.progress import accounts
    from slackwater.spark.watermark.control import with_disorder_control

__version__ = "0.1.0"

_HOMES = {
    "scan": "slackwater.algebra.builder",
    "sql": "slackwater.app.frames",
    "stream": "slackwater.app.frames",
    "advise": "slackwater.app.front",
    "explain": "slackwater.app.front",
    "run": "slackwater.app.front",
    "watch": "slackwater.app.live.notebook",
    "accounts": "slackwater.spark.run.progress",
    "late": "slackwater.spark.operator.late",
    "with_disorder_control": "slackwater.spark.watermark.control",
    "SlackwaterError": "slackwater.errors",
}
__all__ = [
    "SlackwaterError",
    "accounts",
    "advise",
    "dashboard",
    "explain",
    "late",
    "run",
    "scan",
    "sql",
    "stream",
    "testing",
    "watch",
    "with_disorder_control",
]


def __getattr__(name: str) -> Any:
    """Import a public name on its first use: Spark takes seconds to import, and a plan does not need it."""
    if name in ("dashboard", "testing"):
        return import_module(f"slackwater.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'slackwater' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
