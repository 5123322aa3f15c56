"""One query, one or several outputs: what is done with each batch of its rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame

from slackwater.errors import RunError, SlackwaterError
from slackwater.spark.batches import batch_of
from slackwater.spark.refusals import REFUSALS, reason
from slackwater.spark.sinks import Sink


@dataclass(slots=True)
class Delivery:
    """Called by Spark with every batch. What goes wrong is kept: Spark itself would tell it as a Java stack."""

    pipeline: str
    checkpoint: Path
    sink: Sink
    failure: SlackwaterError | None = None

    def __call__(self, df: DataFrame, number: int) -> None:
        try:
            self.sink.write(df, batch_of(self.checkpoint, number))
        except SlackwaterError as failure:
            self.failure = failure
            raise
        except REFUSALS as cause:
            self.failure = failed(self.pipeline, reason(cause))
            raise


def failed(pipeline: str, why: str) -> RunError:
    return RunError(
        "SW-510",
        f"the pipeline '{pipeline}' failed: {why}",
        hint="mend what it names and start again: the pipeline goes on where its checkpoint stands",
    )
