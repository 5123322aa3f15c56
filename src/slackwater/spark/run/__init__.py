"""Running pipelines: checkpoints, progress, side outputs, ticks and views."""
