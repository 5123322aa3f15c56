"""The server of the dashboard, a process of its own: `python -m slackwater.dashboard.server`.

It reads one JSON document per line from standard input: first the settings, then the events of the run. It ends when
standard input ends, and so with the process that started it. It reads nothing else, writes only one line with its port,
and has no option that a request could change.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from socket import socket
from threading import Thread
from typing import Any

from bokeh.application import Application
from bokeh.application.handlers.function import FunctionHandler
from bokeh.server.server import BaseServer
from bokeh.server.tornado import BokehTornado
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.netutil import bind_sockets

from slackwater.app.monitor.board import Board
from slackwater.app.monitor.metrics import CONTENT_TYPE, scrape
from slackwater.app.monitor.progress_log import read_log
from slackwater.dashboard import pages
from slackwater.dashboard.access import Door, Guarded, Refused, Safe
from slackwater.dashboard.settings import ServerSettings

LARGEST_REQUEST = 64 * 1024
"""The most bytes of a request or of a message on a web socket. Larger: a hostile request can take more memory."""
MOST_PAGES = 40
"""The most pages that may be open at once. Larger: more memory and load."""


class Metrics(Safe, Guarded):
    """The handler of `/metrics`, for Prometheus."""

    def initialize(self, board: Board) -> None:
        self.board = board

    def get(self) -> None:
        self.set_header("Content-Type", CONTENT_TYPE)
        self.finish(scrape(self.board))


class Pages(BokehTornado):  # type: ignore[misc]
    """Bokeh's application. `door` first checks every request, including those for web sockets."""

    door: Door

    def find_handler(self, request: Any, **given: Any) -> Any:
        refused = self.door.refusal(request)
        if refused is None and len(self._open()) >= MOST_PAGES and request.path in self.app_paths:
            refused = (503, "too many pages are open")
        if refused is not None:
            return self.get_handler_delegate(request, Refused, {"status": refused[0], "why": refused[1]})
        found = super().find_handler(request, **given)
        handler = getattr(found, "handler_class", None)
        if handler is not None and not issubclass(handler, Safe):
            found.handler_class = safe_class(handler)
        return found

    def _open(self) -> list[Any]:
        return [session for path in self.app_paths for session in self.get_sessions(path)]


_safe: dict[type, type] = {}


def safe_class(handler: type) -> type:
    """Return a subclass of a handler that adds the headers of `Safe`."""
    return _safe.setdefault(handler, type(handler.__name__, (Safe, handler), {}))


def application(board: Board, settings: ServerSettings, door: Door) -> Pages:
    """Return the web application of a board."""
    shown: dict[str, Callable[..., None]] = {"/": pages.overview, "/pipeline": pages.pipeline}
    handlers = {path: Application(FunctionHandler(partial(show, board))) for path, show in shown.items()}
    made = Pages(
        handlers if settings.pages else {},
        extra_patterns=[(r"/metrics", Metrics, {"board": board})],
        extra_websocket_origins=sorted(door.hosts),
        use_index=False,
        include_headers=[],
        include_cookies=[],
        check_unused_sessions_milliseconds=5_000,
        unused_session_lifetime_milliseconds=10_000,
        websocket_max_message_size_bytes=LARGEST_REQUEST,
    )
    made.door = door
    return made


def serve(board: Board, settings: ServerSettings) -> BaseServer:
    """Start to serve a board. Return the server, whose `port` is the port in use."""
    sockets = _bound(settings)
    port = sockets[0].getsockname()[1]
    app = application(board, settings, Door.of(settings.address, port, settings.token))
    http = HTTPServer(app, max_body_size=LARGEST_REQUEST, max_header_size=LARGEST_REQUEST, idle_connection_timeout=60)
    http.add_sockets(sockets)
    server = BaseServer(IOLoop.current(), app, http)
    server.start()
    return server


def _bound(settings: ServerSettings) -> list[socket]:
    """Return sockets that listen on the first free port."""
    *others, last = settings.ports
    for port in others:
        with suppress(OSError):
            return bind_sockets(port, settings.address)
    return bind_sockets(last, settings.address)


def main() -> None:
    """Serve the events of standard input until it ends."""
    for each in ("bokeh", "tornado"):  # the terminal belongs to the run, not to the server
        logging.getLogger(each).setLevel(logging.CRITICAL)
    settings = ServerSettings.of(sys.stdin.readline())
    board = Board()
    if settings.history:
        for event in read_log(Path(settings.history)):
            board.enter(event)
    loop = IOLoop.current()
    try:
        server = serve(board, settings)
    except OSError as cause:
        print(json.dumps({"error": str(cause)}), flush=True)
        return
    print(json.dumps({"port": server.port}), flush=True)
    Thread(target=_read, args=(board, loop), daemon=True).start()
    loop.start()


def _read(board: Board, loop: IOLoop) -> None:
    for line in sys.stdin:
        loop.add_callback(board.enter, json.loads(line))
    loop.add_callback(loop.stop)


if __name__ == "__main__":
    main()
