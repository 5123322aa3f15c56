"""Benchmarks that run Spark."""
