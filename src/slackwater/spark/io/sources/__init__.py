"""Our own sources for Spark: `generate` makes the papers' streams, `replay` plays a recorded one."""
