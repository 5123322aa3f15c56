"""The dashboard as those see it who start it: a process that takes events and never keeps a pipeline waiting."""

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
from slackwater.dashboard.guard import is_loopback
from slackwater.dashboard.settings import Settings
from slackwater.errors import InputError

PORT = 8787
"""Where the page is unless told otherwise; the next ports if others listen there."""
TRIED = 20
WAITING = 10_000
"""Events that may wait for a dashboard that is slow to read. Beyond that they are dropped: the pipeline goes first."""
TOKEN = "SLACKWATER_UI_TOKEN"  # noqa: S105 (the name of a variable)


class Dashboard:
    """A dashboard in a process of its own, which ends with this one.

    Parameters
    ----------
    address, port : where it listens. On an address that other machines reach, a token is asked for: that of the
        variable SLACKWATER_UI_TOKEN, or a new one, which `url` has. `port` None takes the first free one from 8787.
    pages : whether there are pages, or `/metrics` alone.
    history : a progress log of earlier runs, to begin with.
    """

    def __init__(
        self, address: str = "127.0.0.1", port: int | None = None, *, pages: bool = True, history: str = ""
    ) -> None:
        require("dashboard", ("bokeh", "prometheus_client"), "the dashboard" if pages else "the metrics page")
        self.address = address
        self.token = "" if is_loopback(address) else os.environ.get(TOKEN) or secrets.token_urlsafe(24)
        ports = tuple(range(PORT, PORT + TRIED)) if port is None else (port,)
        settings = Settings(address, ports, self.token, pages, history)
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
        """Where to open it; waits until it listens."""
        token = f"?token={self.token}" if self.token else ""
        return f"{self._root}/{token}"

    @property
    def metrics_url(self) -> str:
        """Where Prometheus reads; with a token it sends `Authorization: Bearer ...`."""
        return f"{self._root}/metrics"

    @property
    def _root(self) -> str:
        self._await_port()
        host = self.address if self.address not in ("0.0.0.0", "::") else "127.0.0.1"  # noqa: S104 (a comparison)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    def enter(self, event: Event) -> None:
        """Give an event to the dashboard."""
        with suppress(Full):
            self.queue.put_nowait(event)

    def close(self) -> None:
        """End the process, when it has read what was given."""
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
