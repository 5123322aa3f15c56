"""Spark's dialect of sqlglot, without what sqlglot would write as something that does not mean the same to Spark."""

from __future__ import annotations

from typing import ClassVar

from sqlglot.dialects.spark import Spark
from sqlglot.parsers.spark import SparkParser

UNFAITHFUL = ("INSTR", "LOG10", "PARSE_JSON", "TO_CHAR")
"""Functions that would lose an argument, their meaning or their last digit; as unknown functions they stay as they are.

Found by running the examples of all of Spark's functions as they are and as sqlglot writes them.
"""


class FaithfulParser(SparkParser):
    FUNCTIONS: ClassVar = {name: made for name, made in SparkParser.FUNCTIONS.items() if name not in UNFAITHFUL}


class Faithful(Spark):
    Parser = FaithfulParser
