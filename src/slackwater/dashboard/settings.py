"""What the dashboard's process is told when it starts."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Settings:
    """Where to listen (the first port that is free), under which token (none on loopback), whether with pages, and the
    log of earlier runs."""

    address: str = "127.0.0.1"
    ports: tuple[int, ...] = (0,)
    token: str = ""
    pages: bool = True
    history: str = ""

    @classmethod
    def of(cls, line: str) -> Settings:
        """Return the settings that a line of JSON has.

        >>> Settings.of('{"ports": [8787]}').address
        '127.0.0.1'
        """
        given = json.loads(line)
        return cls(**{each.name: given[each.name] for each in fields(cls) if each.name in given})
