"""The live dashboard: a thin shell over app. The module can be called: `slackwater.dashboard()`."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slackwater.dashboard.session import SessionDashboard


class _Callable(ModuleType):
    """A callable module: `sw.dashboard` is this package once it is imported, and users write `sw.dashboard()`."""

    def __call__(self, address: str = "127.0.0.1", port: int | None = None) -> SessionDashboard:
        from slackwater.dashboard.session import dashboard  # noqa: PLC0415 (the server's process must not load Spark)

        return dashboard(address, port)


sys.modules[__name__].__class__ = _Callable
