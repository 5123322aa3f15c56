"""Everything that depends on Spark's version or on its internals, the Java sources included."""
