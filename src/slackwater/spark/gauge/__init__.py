"""Gauges: what reads the clocks of a stream's rows while Spark's own code runs over them."""
