"""Check for packages that only some commands need, and name the extra that installs them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from slackwater.errors import InputError


def require(extra: str, packages: Sequence[str], what: str) -> None:
    """Raise an error that names the extra, unless all of `packages` can be imported; `what` names the feature."""
    lacking = [name for name in packages if find_spec(name) is None]
    if lacking:
        raise InputError(
            "SW-482",
            f"{what} needs {' and '.join(lacking)}, which cannot be imported",
            expected=f"the extra '{extra}'",
            hint=f"in the clone: pip install '.[{extra}]'",
        )
