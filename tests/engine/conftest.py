"""Plans are lowered as a whole in the tests of the engine, whatever their expressions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.engine.rich import rich_expressions


@pytest.fixture(autouse=True, scope="module")
def any_expression() -> Iterator[None]:
    with rich_expressions():
        yield
