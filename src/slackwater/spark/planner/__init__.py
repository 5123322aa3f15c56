"""From a bound plan to a streaming DataFrame: Spark's own operators where it has them, the engine elsewhere."""
