"""Everything that depends on Spark's version or on its internals, including our Java sources."""
