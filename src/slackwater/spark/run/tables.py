"""The options of every source and sink of ours, in one place: for documentation, and for tests of the tables."""

from __future__ import annotations

from slackwater.spark.io.kafka.sink import TABLE as KAFKA_SINK
from slackwater.spark.io.kafka.source import TABLE as KAFKA_SOURCE
from slackwater.spark.io.mapping import TABLE as MAPPING
from slackwater.spark.io.sinks.postgres.server import TABLE as POSTGRES
from slackwater.spark.io.sinks.shown import TABLE as CONSOLE
from slackwater.spark.io.sources.recipe import GENERATE
from slackwater.spark.io.sources.replay import TABLE as REPLAY
from slackwater.spark.options import OptionTable
from slackwater.spark.planner.fused.changes import TABLE as CHANGELOG

SOURCE_TABLES: tuple[OptionTable, ...] = (GENERATE, REPLAY, KAFKA_SOURCE, MAPPING)
SINK_TABLES: tuple[OptionTable, ...] = (CONSOLE, KAFKA_SINK, POSTGRES, CHANGELOG)
