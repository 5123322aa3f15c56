"""One Spark session per worker for all tests that want one; what takes longest first."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from slackwater.spark.session import local_session
from tests.archive import archived
from tests.postgres import database, server  # noqa: F401 (fixtures)

# How long an example takes says more about the machine than about the code. The same examples are drawn in every run,
# so that a failure is due to a change; `--hypothesis-profile=explore` looks for new ones.
settings.register_profile("slackwater", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)
settings.load_profile("slackwater")

# Processes that tests start inherit it.
os.environ["JAVA_TOOL_OPTIONS"] = archived(Path(__file__).parents[1] / "build" / "spark.jsa")


@pytest.fixture(scope="session")
def spark() -> Iterator[object]:
    """Yield the shared session. A test must not stop it or leave a setting or a query behind."""
    session = local_session("slackwater-tests", master="local[2]")
    yield session
    session.stop()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that use the session `spark`, and sort tests: slow ones, Spark tests, all others.

    The quick tests come last, because they can be shared evenly among the workers.
    """
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    if item.get_closest_marker("slow"):
        return 0
    return 1 if item.get_closest_marker("spark") else 2
