"""Draws all pictures, or those whose names are given: `python -m tools.pictures panes store`."""

from __future__ import annotations

import sys

from tools.pictures import changelogs, disorder, execution, sequence, watermark, windows
from tools.pictures.style import set_up


def main() -> None:
    set_up()
    pictures = {}
    for part in (watermark, disorder, windows, sequence, changelogs, execution):
        pictures.update(part.PICTURES)
    for name in sys.argv[1:] or pictures:
        pictures[name](name)


if __name__ == "__main__":
    main()
