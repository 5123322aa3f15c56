"""The engines that can run a case."""

from enum import StrEnum


class Engine(StrEnum):
    """The reference interpreter, which takes milliseconds, or Spark."""

    INTERPRETER = "interpreter"
    SPARK = "spark"
