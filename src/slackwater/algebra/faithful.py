"""Sqlglot's Spark dialect without the functions that it would rewrite to something with another meaning."""

from __future__ import annotations

from typing import ClassVar

from sqlglot.dialects.spark import Spark
from sqlglot.parsers.spark import SparkParser

UNFAITHFUL = ("INSTR", "LOG10", "PARSE_JSON", "TO_CHAR")
"""Functions that sqlglot would write without an argument, with another meaning, or with another last digit.

They are parsed as unknown functions, which are written unchanged. To find them, run the examples of all Spark functions
both as they are and as sqlglot writes them, and compare the results.
"""


class FaithfulParser(SparkParser):
    FUNCTIONS: ClassVar = {name: made for name, made in SparkParser.FUNCTIONS.items() if name not in UNFAITHFUL}


class Faithful(Spark):
    Parser = FaithfulParser
