"""Kernels on Spark: what plans need that Spark has no operator for, in one stateful operator per partitioning."""
