"""`sw.dashboard()`: the dashboard of all streaming queries of a session, including those that are not pipelines."""

from __future__ import annotations

from html import escape

from slackwater.app.live.following import Following
from slackwater.dashboard.process import Dashboard


class SessionDashboard:
    """A dashboard that follows a session until `close`, or until the program ends."""

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
    """Show every streaming query of the active Spark session in the browser. A second call returns the same dashboard.

    Parameters
    ----------
    address
        Where it listens. If other machines can reach the address, the printed URL contains a token.
    port
        The port; by default the first free one from 8787 on.

    Examples
    --------
    # sw.dashboard()
    """
    if "" not in _open:
        _open[""] = SessionDashboard(address, port)
    return _open[""]
