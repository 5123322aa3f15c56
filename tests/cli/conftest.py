"""Commands called as a user calls them, in this process (a new one takes two seconds to start)."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from slackwater.cli.main import main


@dataclass(frozen=True)
class Result:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def slackwater(monkeypatch, capfd) -> Callable[..., Result]:
    def call(*words: object) -> Result:
        monkeypatch.setattr("sys.argv", ["slackwater", *map(str, words)])
        capfd.readouterr()
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        return Result(code, *capfd.readouterr())

    return call
