"""`slackwater dry-run`: everything that can be checked without running a query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from slackwater.algebra.catalog import Pipeline, Script
from slackwater.algebra.nodes import Scan, walk
from slackwater.app.secrets import masked_errors
from slackwater.app.views import rewritten
from slackwater.errors import found_in
from slackwater.spark.io.spelling import doubts
from slackwater.spark.io.streams import SparkSession, read_streams
from slackwater.spark.run.formats import check_alone, check_outputs, check_plan, check_sides, check_sink, check_stream
from slackwater.spark.run.sides import arranged
from slackwater.spark.session import local_session


def dry_run(script: Script, starting: Callable[[], None] = lambda: None) -> Iterator[str]:
    """Return what was found right, one line each; the first thing that is wrong is raised.

    Spark is started last, and `starting` called before: it takes seconds, and most mistakes are found without it.
    """
    with masked_errors(script):
        check_pipelines(arranged(rewritten(script)))
        if script.streams or script.sinks or script.pipelines:
            starting()
            yield from found_right(local_session(options=script.settings, brief=True), script)


def found_doubtful(script: Script) -> Iterator[str]:
    """Warnings about a script, one line each: options that are probably misspelt. They keep nothing from running."""
    yield from doubts(script)


def found_right(session: SparkSession, script: Script) -> Iterator[str]:
    """Return what is right in a script, one line each, by checks that `run` makes too before it starts anything."""
    yield from declared_right(session, script)
    frames = read_streams(session, script)
    for pipeline, sides in arranged(rewritten(script)):
        with found_in(f"the pipeline '{pipeline.name}'"):
            found = [(pipeline, check_plan(pipeline, frames)), *check_sides(pipeline, sides, frames)]
        for each, columns in found:
            yield f"pipeline {each.name}: " + ", ".join(f"{name} {kind}" for name, kind in columns)


def declared_right(session: SparkSession, script: Script) -> Iterator[str]:
    """Return which streams and sinks are right, one line each: their formats exist, and the data has the columns."""
    for stream in script.streams:
        check_stream(session, stream)
        yield f"stream {stream.name}: {stream.format}, {len(stream.fields)} columns"
    for sink in script.sinks:
        check_sink(session, sink)
        yield f"sink {sink.name}: {sink.format}"


def check_pipelines(pipelines: Iterable[tuple[Pipeline, Sequence[Pipeline]]]) -> None:
    """Check pipelines, each with those that read its sides, as far as it goes without Spark: plans and sinks."""
    for pipeline, sides in pipelines:
        check_alone(pipeline)
        check_outputs(pipeline, sides)


def used(script: Script) -> Script:
    """A script without streams and sinks that no pipeline names: what is wrong with them keeps nothing from running."""
    read = {node.stream for each in script.pipelines for node in walk(each.plan) if isinstance(node, Scan)}
    written = {each.sink.name for each in script.pipelines if each.sink is not None}
    return replace(
        script,
        streams=tuple(each for each in script.streams if each.name in read),
        sinks=tuple(each for each in script.sinks if each.name in written),
    )
