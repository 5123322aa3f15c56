"""Pure vectorised operators over Arrow and NumPy: no clock, no I/O, no Spark."""
