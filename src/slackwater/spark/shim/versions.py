"""The tested versions of Spark, and the warning about other versions."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache

import pyspark

TESTED = ("4.0.5", "4.1.4", "4.2.1", "4.3.0")
"""The tested versions, oldest first; docs/reach.md describes the tests."""
OLDEST, NEWEST = (4, 0), (4, 3)


def minor_of(version: str) -> tuple[int, int]:
    """Return the first two numbers of a version.

    >>> minor_of("4.1.0.dev3"), minor_of("5.0-SNAPSHOT")
    ((4, 1), (5, 0))
    """
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else (0, 0)


INSTALLED = minor_of(pyspark.__version__)
"""The version of Spark in this process."""


def version_warning(version: str) -> str:
    """Return a warning about a version of Spark, empty if the version was tested.

    >>> version_warning("4.1.2")
    ''
    >>> version_warning("3.5.1")
    'Slackwater was not tested with Spark 3.5.1, only with 4.0 to 4.3'
    """
    if OLDEST <= minor_of(version) <= NEWEST:
        return ""
    tested = f"{'.'.join(map(str, OLDEST))} to {'.'.join(map(str, NEWEST))}"
    return f"Slackwater was not tested with Spark {version}, only with {tested}"


@lru_cache(maxsize=1)
def warn_unsupported(version: str = pyspark.__version__) -> None:
    """Warn once if this version of Spark was not tested."""
    if problem := version_warning(version):
        warnings.warn(f"{problem}: what it lacks is reported when it is first used", stacklevel=3)
