"""Spark's own writers, one batch at a time, for pipelines that have more than one output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame

from slackwater.errors import InputError
from slackwater.spark.batches import Batch

FILES = ("parquet", "orc", "avro", "csv", "json", "text", "xml")


@dataclass(frozen=True, slots=True)
class Files:
    """A folder of files per batch, `batch=N` below the path, which a repeated batch writes over as a whole."""

    name: str
    format: str
    options: Mapping[str, str]

    def open(self, df: DataFrame) -> None:
        if not self.path:
            raise InputError(
                "SW-455", f"the sink '{self.name}' has no path", expected="OPTIONS (path '...')", hint="add the option"
            )

    @property
    def path(self) -> str:
        return next((value for name, value in self.options.items() if name.lower() == "path"), "")

    def write(self, df: DataFrame, batch: Batch) -> None:
        options = {name: value for name, value in self.options.items() if name.lower() != "path"}
        folder = f"{self.path.rstrip('/')}/batch={batch.number}"
        df.write.format(self.format).options(**options).mode("overwrite").save(folder)


@dataclass(frozen=True, slots=True)
class Appended:
    """Formats that keep track of batches themselves (delta), or that promise no more than at least once (kafka)."""

    name: str
    format: str
    options: Mapping[str, str]

    def open(self, df: DataFrame) -> None:
        """What the format refuses, it refuses when it writes."""

    def write(self, df: DataFrame, batch: Batch) -> None:
        once = {"txnAppId": f"{batch.run}.{self.name}", "txnVersion": str(batch.number)}
        options = {**self.options, **(once if self.format == "delta" else {})}
        df.write.format(self.format).options(**options).mode("append").save()
