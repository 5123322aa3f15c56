"""One Spark session for all tests that want one; quick tests first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from slackwater.spark.session import JVM_OPTIONS, local_session

# The streams of tests are small: compiling for them, in the JVM and in Spark, would take most of the time.
OPTIONS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.extraJavaOptions": f"{JVM_OPTIONS} -XX:TieredStopAtLevel=1",
}


@pytest.fixture(scope="session")
def spark() -> Iterator[object]:
    """The shared session. A test must not stop it or leave a setting or a query behind."""
    session = local_session("slackwater-tests", master="local[2]", options=OPTIONS)
    yield session
    session.stop()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever uses the session is marked `spark`; then unmarked tests, Spark tests, slow tests, in this order."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    if item.get_closest_marker("slow"):
        return 2
    return 1 if item.get_closest_marker("spark") else 0
