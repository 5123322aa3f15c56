"""Continuous SQL on Spark over streams that arrive late and out of order."""

__version__ = "0.1.0"
