"""`pytest tests/faults/test_kills.py --kills 15`: so many kills on one checkpoint."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--kills", type=int, default=3, help="how often the pipelines are killed before they may end")
