"""Benchmarks, side by side. `python -m bench` runs all, `python -m bench NAME...` some, `--list` names them.

A benchmark is a module with a docstring and a `main()` that prints its comparison; it is named here.
"""

BENCHMARKS = {
    "record-store": "bench.disorder.record_store",
    "estimators": "bench.disorder.speed",
    "budget": "bench.disorder.promise",
    "budget-pictures": "bench.disorder.pictures",
    "budget-beside": "bench.disorder.compare",
    "adc": "bench.disorder.adc",
    "adcj": "bench.disorder.adcj",
    "win": "bench.disorder.win",
    "answer-error": "bench.disorder.answer_error",
    "kernels": "bench.windows.kernels",
    "hold": "bench.windows.hold",
    "frequency": "bench.windows.frequency",
    "fused": "bench.windows.spark",
    "changelog-speed": "bench.changelog.speed",
    "changelog-models": "bench.changelog.models",
    "changelog-compression": "bench.changelog.compression",
    "overhead": "bench.spark.overhead",
    "postgres": "bench.spark.postgres",
    "merge": "bench.spark.merge",
    "kafka": "bench.spark.kafka",
    "monitoring": "bench.spark.monitoring",
}


class BenchmarkRefused(Exception):  # noqa: N818 (nothing went wrong: it did not start)
    """A benchmark cannot run as a whole, and so does not run; the message says what is missing."""
