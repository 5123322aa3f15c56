"""The only place that imports pyspark: planning, controlled watermarks, sources, sinks, progress."""
