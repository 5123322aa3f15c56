"""Queries that read the late, rejected and refused rows of a pipeline."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from slackwater.algebra.catalog import SIDES, Catalog, Pipeline
from slackwater.algebra.sides import side_streams, with_sides
from slackwater.lang import parse_script


def readers_of(pipeline: Pipeline, catalog: Catalog, sides: Collection[str] = SIDES) -> list[Pipeline]:
    """Return a query for each stream of late, rejected or refused rows that a pipeline fills, named like the stream.

    `sides` limits the kinds of streams.
    """
    known = with_sides(catalog, pipeline)
    found = []
    for each in side_streams(pipeline):
        if each.format in sides:
            (reader,) = parse_script(f"SELECT * FROM `{each.name}`", catalog=known).pipelines  # noqa: S608
            found.append(replace(reader, name=each.name))
    return found
