"""`slackwater dry-run`: everything that can be checked without running a query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from slackwater.algebra.catalog import Pipeline, Script
from slackwater.algebra.nodes import Scan, walk
from slackwater.app.secrets import mask_errors
from slackwater.app.views import optimise_pipelines
from slackwater.errors import found_in
from slackwater.spark.io.spelling import doubts
from slackwater.spark.io.streams import SparkSession, read_streams
from slackwater.spark.run.dry_run import check_alone, check_outputs, check_plan, check_sides, check_sink, check_stream
from slackwater.spark.run.sides import group_by_query
from slackwater.spark.session import local_session


def dry_run(script: Script, starting: Callable[[], None] = lambda: None) -> Iterator[str]:
    """Check a script; return one line for each declaration and pipeline that is right, and raise the first mistake.

    Spark starts last, because it takes seconds and most mistakes are found without it. `starting` is called just
    before Spark starts.
    """
    with mask_errors(script):
        check_pipelines(group_by_query(optimise_pipelines(script)))
        if script.streams or script.sinks or script.pipelines:
            starting()
            yield from check_script(local_session(options=script.settings, brief=True), script)


def found_doubtful(script: Script) -> Iterator[str]:
    """Return a warning for each option that is probably misspelt. A script with warnings still runs."""
    yield from doubts(script)


def check_script(session: SparkSession, script: Script) -> Iterator[str]:
    """Check declarations and pipelines as `run` does before it starts a query; return one line for each."""
    yield from check_declarations(session, script)
    frames = read_streams(session, script)
    for pipeline, sides in group_by_query(optimise_pipelines(script)):
        with found_in(f"the pipeline '{pipeline.name}'"):
            found = [(pipeline, check_plan(pipeline, frames)), *check_sides(pipeline, sides, frames)]
        for each, columns in found:
            yield f"pipeline {each.name}: " + ", ".join(f"{name} {kind}" for name, kind in columns)


def check_declarations(session: SparkSession, script: Script) -> Iterator[str]:
    """Check that the formats of streams and sinks exist and that the data has the columns; return one line for each."""
    for stream in script.streams:
        check_stream(session, stream)
        yield f"stream {stream.name}: {stream.format}, {len(stream.fields)} columns"
    for sink in script.sinks:
        check_sink(session, sink)
        yield f"sink {sink.name}: {sink.format}"


def check_pipelines(pipelines: Iterable[tuple[Pipeline, Sequence[Pipeline]]]) -> None:
    """Check the plans and sinks of pipelines without Spark; each pipeline comes with those that read its sides."""
    for pipeline, sides in pipelines:
        check_alone(pipeline)
        check_outputs(pipeline, sides)


def drop_unused_declarations(script: Script) -> Script:
    """Return a script without the streams and sinks that no pipeline names: a mistake in them stops no run."""
    read = {node.stream for each in script.pipelines for node in walk(each.plan) if isinstance(node, Scan)}
    written = {each.sink.name for each in script.pipelines if each.sink is not None}
    return replace(
        script,
        streams=tuple(each for each in script.streams if each.name in read),
        sinks=tuple(each for each in script.sinks if each.name in written),
    )
