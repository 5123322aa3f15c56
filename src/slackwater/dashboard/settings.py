"""The settings of the dashboard's process, which it reads when it starts."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from ipaddress import ip_address


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The address, the ports to try, the token (empty on loopback), whether to serve pages, and an earlier log."""

    address: str = "127.0.0.1"
    ports: tuple[int, ...] = (0,)
    token: str = ""
    pages: bool = True
    history: str = ""

    @classmethod
    def of(cls, line: str) -> ServerSettings:
        """Return the settings in a line of JSON.

        >>> ServerSettings.of('{"ports": [8787]}').address
        '127.0.0.1'
        """
        given = json.loads(line)
        return cls(**{each.name: given[each.name] for each in fields(cls) if each.name in given})


def is_loopback(address: str) -> bool:
    """Return whether only this machine can reach an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return address.lower() == "localhost"
