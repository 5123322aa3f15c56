"""The formats in which `slackwater explain` writes plans."""

from __future__ import annotations

from enum import StrEnum


class Format(StrEnum):
    TEXT = "text"
    JSON = "json"
    MERMAID = "mermaid"
    DOT = "dot"
    SVG = "svg"
    PNG = "png"

    @property
    def is_picture(self) -> bool:
        return self in (Format.SVG, Format.PNG)
