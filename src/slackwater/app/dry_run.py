"""`slackwater dry-run`: everything that can be checked without running a query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from slackwater.algebra.catalog import Script
from slackwater.algebra.nodes import Scan, walk
from slackwater.app.secrets import masked_errors
from slackwater.app.views import rewritten
from slackwater.errors import found_in
from slackwater.spark.io.streams import SparkSession, read_streams
from slackwater.spark.run.formats import check_outputs, check_plan, check_sides, check_sink, check_stream
from slackwater.spark.run.sides import arranged
from slackwater.spark.session import local_session


def dry_run(script: Script) -> Iterator[str]:
    """Says what was found right, one line each; the first thing that is wrong is raised."""
    with masked_errors(script):
        yield from found_right(local_session(options=script.settings), script)


def found_right(session: SparkSession, script: Script) -> Iterator[str]:
    """What is right in a script, one line each, by checks that `run` makes too before it starts anything."""
    for stream in script.streams:
        check_stream(session, stream)
        yield f"stream {stream.name}: {stream.format}, {len(stream.fields)} columns"
    for sink in script.sinks:
        check_sink(session, sink)
        yield f"sink {sink.name}: {sink.format}"
    frames = read_streams(session, script)
    for pipeline, sides in arranged(rewritten(script)):
        check_outputs(pipeline, sides)
        with found_in(f"the pipeline '{pipeline.name}'"):
            found = [(pipeline, check_plan(pipeline, frames)), *check_sides(pipeline, sides, frames)]
        for each, columns in found:
            yield f"pipeline {each.name}: " + ", ".join(f"{name} {kind}" for name, kind in columns)


def used(script: Script) -> Script:
    """A script without streams and sinks that no pipeline names: what is wrong with them keeps nothing from running."""
    read = {node.stream for each in script.pipelines for node in walk(each.plan) if isinstance(node, Scan)}
    written = {each.sink.name for each in script.pipelines if each.sink is not None}
    return replace(
        script,
        streams=tuple(each for each in script.streams if each.name in read),
        sinks=tuple(each for each in script.sinks if each.name in written),
    )
