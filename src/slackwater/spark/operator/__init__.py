"""The engine as a stateful operator of Spark: rows to workers, state in the checkpoint, results back."""
