"""Numbers as readable text: about three digits and a unit."""

from __future__ import annotations


def amount(rows: float) -> str:
    """Return a number of rows as text.

    >>> amount(0), amount(950), amount(12_345), amount(3_400_000)
    ('0', '950', '12.3 k', '3.40 M')
    """
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if rows >= size:
            scaled = rows / (1e3 if unit == "k" else size)
            return f"{scaled:.{2 if scaled < 10 else 1 if scaled < 100 else 0}f} {unit}"
    return f"{rows:,.0f}"


def percent(share: float) -> str:
    """Return a share in percent, with more digits for smaller shares.

    >>> percent(0), percent(0.00042), percent(0.0123), percent(0.25)
    ('0%', '0.042%', '1.23%', '25%')
    """
    scaled = 100 * share
    if scaled == 0:
        return "0%"
    digits = 3 if scaled < 0.1 else 2 if scaled < 10 else 1
    return f"{scaled:.{digits}f}".rstrip("0").rstrip(".") + "%"


def seconds(time: float) -> str:
    """Return a length of time as text.

    >>> seconds(0.0421), seconds(1.5), seconds(42.23), seconds(400), seconds(9_000)
    ('42 ms', '1.50 s', '42.2 s', '6.7 min', '2.5 h')
    """
    size = abs(time)
    if size < 1:
        return f"{time * 1_000:.0f} ms"
    if size < 100:
        return f"{time:.{2 if size < 10 else 1}f} s"
    return f"{time / 60:.1f} min" if size < 7_200 else f"{time / 3_600:.1f} h"


def megabytes(size: float) -> str:
    """Return a number of bytes as text.

    >>> megabytes(2_101_440), megabytes(3.2e9)
    ('2.1 MB', '3.2 GB')
    """
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"
