"""Decide who runs the controllers of a session's queries."""

from __future__ import annotations

import warnings
from functools import lru_cache

import pyspark
from pyspark.sql import SparkSession

from slackwater.errors import RunError
from slackwater.spark.session import without_driver
from slackwater.spark.shim.versions import version_warning
from slackwater.spark.shim.workers import is_connect

HOST = "spark.slackwater.control"
"""The setting that chooses the host of the controllers in a classic session."""
GAUGE, ROWS = "gauge", "rows"
ABOUT = {
    GAUGE: "the gauge: Spark's driver calls the controller after each batch",
    ROWS: "rows of the plan: a stateful operator beside the query steps the controller",
}


def host_of(session: SparkSession) -> str:
    """Return which host runs the controllers: the gauge, or rows of the plan, which need only Spark's public API.

    A classic session has the gauge, unless its settings say otherwise or its version of Spark was not tested.
    """
    if is_connect(session):
        return ROWS
    stated = session.conf.get(HOST, None)
    if stated is None:
        return _usual(pyspark.__version__)
    if stated not in ABOUT:
        raise RunError(
            "SW-504", f"no host of controllers is called '{stated}'", expected=f"{HOST} = {' or '.join(ABOUT)}"
        )
    return stated


@lru_cache(maxsize=1)
def _usual(version: str) -> str:
    problem = version_warning(version)
    if problem:
        warnings.warn(f"{problem}: controllers run in the plan of each query ({HOST} = {ROWS})", stacklevel=4)
    return ROWS if problem else GAUGE


def require_gauge(session: SparkSession, what: str) -> None:
    """Raise an error if something needs the gauge and the session or its settings rule that out."""
    if is_connect(session):
        raise without_driver(what, "this is a session of Spark Connect")
    if session.conf.get(HOST, GAUGE) != GAUGE:
        raise without_driver(what, f"the setting {HOST} rules that out")
