"""`sw.dashboard()`: the dashboard of every streaming query of the session, also of those that are no pipelines."""

from __future__ import annotations

from html import escape

from slackwater.app.following import Following
from slackwater.dashboard.process import Dashboard


class SessionDashboard:
    """A dashboard that follows a session; `close` ends it, and so does the end of the program."""

    def __init__(self, address: str, port: int | None) -> None:
        self.shown = Dashboard(address, port)
        self.url = self.shown.url
        self.following = Following([self.shown.enter]).start()

    def close(self) -> None:
        self.following.stop()
        self.shown.close()
        if _open.get("") is self:
            del _open[""]

    def __repr__(self) -> str:
        return f"dashboard: {self.url}"

    def _repr_html_(self) -> str:
        return f'dashboard: <a href="{escape(self.url)}" target="_blank" rel="noopener">{escape(self.url)}</a>'


_open: dict[str, SessionDashboard] = {}


def dashboard(address: str = "127.0.0.1", port: int | None = None) -> SessionDashboard:
    """Show every streaming query of the active Spark session in the browser; a second call gives the same dashboard.

    Parameters
    ----------
    address
        Where it listens. On an address that other machines reach, the printed URL has a token.
    port
        The first free one from 8787 unless it is given.

    Examples
    --------
    # sw.dashboard()
    """
    if "" not in _open:
        _open[""] = SessionDashboard(address, port)
    return _open[""]
