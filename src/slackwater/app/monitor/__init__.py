"""The state of running pipelines, from the progress records of their batches, for pages, metrics and notebooks.

Nothing here imports Spark: the dashboard is a process of its own and reads records as lines of JSON.
"""
