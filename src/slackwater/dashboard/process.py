"""The dashboard as a process of its own, which takes events and never makes a pipeline wait."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict
from queue import Full, Queue
from threading import Thread
from types import TracebackType

from slackwater.app.extras import require
from slackwater.app.monitor.board import Event
from slackwater.dashboard.settings import ServerSettings, is_loopback
from slackwater.errors import InputError

PORT = 8787
"""The first port to try, unless the user gives one."""
TRIED = 20
"""The number of ports to try. Larger: more dashboards can run at once on this machine."""
WAITING = 10_000
"""The most events that wait for a slow dashboard; further ones are dropped. Larger: more memory of the run."""
TOKEN = "SLACKWATER_UI_TOKEN"  # noqa: S105 (the name of a variable)


class Dashboard:
    """A dashboard in a process of its own, which ends with this process.

    Parameters
    ----------
    address, port : where it listens. An address that other machines can reach requires a token: the value of the
        variable SLACKWATER_UI_TOKEN, or a new one, which `url` contains. `port` None: the first free one from 8787 on.
    pages : whether to serve pages, or only `/metrics`.
    history : a progress log of earlier runs, shown at the start.
    """

    def __init__(
        self, address: str = "127.0.0.1", port: int | None = None, *, pages: bool = True, history: str = ""
    ) -> None:
        require("dashboard", ("bokeh", "prometheus_client"), "the dashboard" if pages else "the metrics page")
        self.address = address
        self.token = "" if is_loopback(address) else os.environ.get(TOKEN) or secrets.token_urlsafe(24)
        ports = tuple(range(PORT, PORT + TRIED)) if port is None else (port,)
        settings = ServerSettings(address, ports, self.token, pages, history)
        command = [sys.executable, "-m", "slackwater.dashboard.server"]
        self.process = subprocess.Popen(  # noqa: S603 (our own module)
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", start_new_session=True
        )
        self.queue: Queue[Event | None] = Queue(WAITING)
        self.port = 0
        self._send(asdict(settings))
        self.writer = Thread(target=self._write, name="slackwater-dashboard", daemon=True)
        self.writer.start()

    @property
    def url(self) -> str:
        """Return the address of the page. Waits until the server listens."""
        token = f"?token={self.token}" if self.token else ""
        return f"{self._root}/{token}"

    @property
    def metrics_url(self) -> str:
        """Return the address for Prometheus, which sends a token as `Authorization: Bearer ...`."""
        return f"{self._root}/metrics"

    @property
    def _root(self) -> str:
        self._await_port()
        host = self.address if self.address not in ("0.0.0.0", "::") else "127.0.0.1"  # noqa: S104 (a comparison)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    def enter(self, event: Event) -> None:
        """Send an event to the dashboard, or drop it if the dashboard is too slow."""
        with suppress(Full):
            self.queue.put_nowait(event)

    def close(self) -> None:
        """End the process after it has read the waiting events."""
        with suppress(Full):
            self.queue.put(None, timeout=1)
        self.writer.join(5)
        with suppress(OSError):
            self.process.stdin.close()  # type: ignore[union-attr]
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()  # type: ignore[union-attr]

    def __enter__(self) -> Dashboard:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _await_port(self) -> None:
        if self.port:
            return
        said = json.loads(self.process.stdout.readline() or "{}")  # type: ignore[union-attr]
        if "port" not in said:
            raise InputError(
                "SW-483", f"the dashboard cannot listen on {self.address}: {said.get('error', 'its process ended')}",
                expected="an address of this machine and a free port", hint="choose another with --ui-port",
            )  # fmt: skip
        self.port = said["port"]

    def _write(self) -> None:
        while (event := self.queue.get()) is not None:
            try:
                self._send(event)
            except (OSError, ValueError):
                return

    def _send(self, document: object) -> None:
        self.process.stdin.write(json.dumps(document, default=str) + "\n")  # type: ignore[union-attr]
        self.process.stdin.flush()  # type: ignore[union-attr]
