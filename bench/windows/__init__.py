"""Windows and frequencies: the kernels alone, and on Spark."""
