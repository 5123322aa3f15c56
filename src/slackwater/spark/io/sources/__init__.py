"""Our own sources for Spark: `generate` makes the streams of the papers, `replay` plays a recorded stream."""
