"""Streaming Python sources, written once for every version of Spark.

Spark 4.2 and later tell a reader where the next batch begins, and whether a query reads only the available rows. Spark
4.0 and 4.1 only ask for the newest offset.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from slackwater.spark.shim.versions import INSTALLED

TELLS_AVAILABLE_NOW = INSTALLED >= (4, 2)
"""Whether Spark tells a Python source that a query reads only the available rows."""

if TYPE_CHECKING or TELLS_AVAILABLE_NOW:
    from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow
else:

    class SupportsTriggerAvailableNow:
        """Replaces the class of Spark 4.2."""


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The reader of a source: `next_offset` returns the end of a batch, `plan` the partitions of its tasks."""

    _seen: dict[str, Any] | None = None
    """The end of the last planned batch. A query that resumes first plans an empty batch at its offset."""

    @abstractmethod
    def next_offset(self, start: dict[str, Any]) -> dict[str, Any]:
        """Return the end of the batch that begins at `start`, or `start` itself if nothing has arrived."""

    @abstractmethod
    def plan(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """Return the partitions that the tasks of a batch read."""

    def latestOffset(self, start: dict[str, Any] | None = None, limit: Any = None) -> dict[str, Any]:  # noqa: N802
        return self.next_offset(start or self._seen or self.initialOffset())

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        self._seen = end
        return self.plan(start, end)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Do nothing. A reader that waits for the clock overrides this and stops waiting."""
