"""Spark's own writers, one batch at a time, for pipelines that have more than one output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame

from slackwater.errors import InputError
from slackwater.spark.batches import DeliveredBatch
from slackwater.spark.store import locate

LOG = "_spark_metadata"
"""The folder in which Spark's own file sink logs which files are valid."""
FILES = ("parquet", "orc", "avro", "csv", "json", "text", "xml")


@dataclass(frozen=True, slots=True)
class FileSink:
    """Writes a folder of files per batch, `batch=N` below the path. A repeated batch overwrites its folder."""

    name: str
    format: str
    options: Mapping[str, str]

    def open(self, df: DataFrame) -> None:
        if not self.path:
            raise InputError(
                "SW-455", f"the sink '{self.name}' has no path", expected="OPTIONS (path '...')", hint="add the option"
            )
        if (locate(self.path, df.sparkSession) / LOG).exists():
            raise mixed(self.name, "Spark's own file sink wrote there, and readers follow its log alone")

    @property
    def path(self) -> str:
        return path_of(self.options)

    def write(self, df: DataFrame, batch: DeliveredBatch) -> None:
        options = {name: value for name, value in self.options.items() if name.lower() != "path"}
        folder = f"{self.path.rstrip('/')}/batch={batch.number}"
        df.write.format(self.format).options(**options).mode("overwrite").save(folder)


def check_files(name: str, format_: str, options: Mapping[str, str]) -> None:
    """Raise an error if Spark's own file sink would hide folders of batches, because its log does not list them."""
    folder = locate(path_of(options))
    if format_ in FILES and path_of(options) and not (folder / LOG).exists() and folder.list("batch=.*"):
        raise mixed(name, "batches were written there beside late, rejected or refused rows")


def path_of(options: Mapping[str, str]) -> str:
    return next((value for name, value in options.items() if name.lower() == "path"), "")


def mixed(name: str, why: str) -> InputError:
    return InputError(
        "SW-439",
        f"the path of the sink '{name}' cannot be gone on with: {why}",
        expected="a path for as long as the same side outputs are read",
        hint="give the sink another path, or the script the side outputs that it had",
    )


@dataclass(frozen=True, slots=True)
class Appended:
    """Formats that keep track of batches themselves (delta), or write nothing (noop)."""

    name: str
    format: str
    options: Mapping[str, str]

    def open(self, df: DataFrame) -> None:
        """Check nothing: the format reports its errors when it writes."""

    def write(self, df: DataFrame, batch: DeliveredBatch) -> None:
        once = {"txnAppId": f"{batch.run}.{self.name}", "txnVersion": str(batch.number)}
        options = {**self.options, **(once if self.format == "delta" else {})}
        df.write.format(self.format).options(**options).mode("append").save()
