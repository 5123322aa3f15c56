"""What of that somebody types may be remembered."""

from __future__ import annotations

import re

from slackwater.app.secrets import without_secrets

_OPTION = re.compile(r"""['"`]?([\w.-]+)['"`]?\s*=?\s*(?:'([^']*)'|"([^"]*)"|(\S+))""")


def holds_secret(text: str) -> bool:
    """Return whether a statement has a secret among its options, which no file may keep.

    >>> holds_secret("CREATE SINK s USING postgres OPTIONS (password 'tide')")
    True
    >>> holds_secret("CREATE SINK s USING postgres OPTIONS (password_env 'PGPASSWORD')")
    False
    """
    given = {name: one or two or three for name, one, two, three in _OPTION.findall(text)}
    return without_secrets(given) != given or without_secrets({"text": text}) != {"text": text}
