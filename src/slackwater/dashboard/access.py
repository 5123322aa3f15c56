"""Access checks of the dashboard, before any other code sees a request.

A page in a user's browser can send requests to servers on the same machine, and a host name can be made to point there
(DNS rebinding). So the Host must be one of this server's names, an Origin must be this server's own, and only GET is
answered. If other machines can reach the port, a token is needed as well.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from dataclasses import dataclass
from hmac import compare_digest
from typing import Any
from urllib.parse import urlsplit

from tornado.web import RequestHandler

from slackwater.dashboard.settings import is_loopback

COOKIE = "slackwater_token"
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
POLICY = (
    "default-src 'self'", "script-src 'self' 'unsafe-inline'", "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'",
)  # fmt: skip
HEADERS = {
    "Content-Security-Policy": "; ".join(POLICY),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

Refusal = tuple[int, str]
"""An HTTP status and the reason."""


@dataclass(frozen=True, slots=True)
class Door:
    """The names under which the server is reached, with its port, and the token that it requires (none if empty)."""

    hosts: frozenset[str]
    token: str = ""

    @classmethod
    def of(cls, address: str, port: int, token: str) -> Door:
        names = {*LOOPBACK} if is_loopback(address) else {*LOOPBACK, *_names(address)}
        return cls(frozenset(f"{name}:{port}".lower() for name in names), token)

    def refusal(self, request: Any) -> Refusal | None:
        """Return why a request is refused, or None if it is allowed."""
        if request.method != "GET":
            return 405, "only GET is answered"
        if request.host.lower() not in self.hosts:
            return 403, "the Host is not one of this server"
        origin = request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc.lower() not in self.hosts:
            return 403, "the Origin is not this server"
        if self.token and not self._knows(request):
            return 401, "a token is needed: open the address that the run printed"
        return None

    def _knows(self, request: Any) -> bool:
        given = [request.headers.get("Authorization", "").removeprefix("Bearer ")]
        given += [each.decode(errors="replace") for each in request.arguments.get("token", ())]
        given += [request.cookies[COOKIE].value] if COOKIE in request.cookies else []
        return any(compare_digest(each.encode(), self.token.encode()) for each in given)


class Safe(RequestHandler):
    """Sets headers that keep other sites from framing, sniffing or scripting a page.

    Also stores the token in a cookie, so that the links of a page need not contain it.
    """

    def set_default_headers(self) -> None:
        super().set_default_headers()
        for name, value in HEADERS.items():
            self.set_header(name, value)
        self.clear_header("Server")
        door = getattr(self.application, "door", None)
        if door is not None and door.token and self.request.arguments.get("token"):
            self.set_cookie(COOKIE, door.token, httponly=True, samesite="Strict")


class Guarded(RequestHandler):
    """One of our own handlers: its errors are a line of text."""

    def write_error(self, status_code: int, **_: Any) -> None:
        self.set_header("Content-Type", "text/plain")
        self.finish(f"{status_code}\n")


class Refused(Guarded):
    """The answer to a refused request."""

    def initialize(self, status: int, why: str) -> None:
        self.status, self.why = status, why

    def prepare(self) -> None:
        self.set_status(self.status)
        for name, value in HEADERS.items():
            self.set_header(name, value)
        self.set_header("Content-Type", "text/plain")
        self.finish(f"{self.why}\n")


def _names(address: str) -> set[str]:
    """Return the names of this machine, and the address that the user gave."""
    own = {address, socket.gethostname(), socket.getfqdn()}
    with suppress(OSError):
        own |= {str(found[4][0]) for found in socket.getaddrinfo(socket.gethostname(), None)}
    return {f"[{each}]" if ":" in each else each for each in own}
