"""`sw.sql`: DataFrames in, a DataFrame out, in the SparkSession of the user."""

from __future__ import annotations

from dataclasses import dataclass, replace

from slackwater.algebra.bind import bind
from slackwater.algebra.builder import Query
from slackwater.algebra.catalog import TIMESTAMPS, Catalog, StreamDef
from slackwater.algebra.checks import check
from slackwater.algebra.nodes import Plan
from slackwater.app.plans.optimise import optimise
from slackwater.errors import InputError
from slackwater.lang import parse_script
from slackwater.spark.io.streams import DataFrame, definition_of
from slackwater.spark.planner.plan import compile_plan


@dataclass(frozen=True, slots=True)
class Stream:
    """A DataFrame with its clocks named, for `sql`: `stream(events, "ts", arrival="received")`."""

    df: DataFrame
    event_time: str | None = None
    arrival: str | None = None
    source: str | None = None


def stream(
    df: DataFrame, event_time: str | None = None, *, arrival: str | None = None, source: str | None = None
) -> Stream:
    """Return a DataFrame with its clocks named, for `sql`.

    Parameters
    ----------
    df
        A DataFrame, streaming or not.
    event_time
        The column with the event time; without it, the one timestamp of the DataFrame, or what WATTR names.
    arrival
        The column with the arrival time; without it, the time at which Spark read the row.
    source
        The column that names the sender.

    Examples
    --------
    events = spark.readStream.format("rate").load().selectExpr("value % 10 AS sensor", "timestamp AS ts")
    named = sw.stream(events, "ts", source="sensor")
    """
    return Stream(df, event_time, arrival, source)


def sql(query: str | Query | Plan, **streams: DataFrame | Stream) -> DataFrame:
    """Return the result of a query over DataFrames as a DataFrame.

    Parameters
    ----------
    query
        The text of a query, with views before it if need be; or a query of the builder (`scan`).
    **streams
        A DataFrame, or a `stream` with its clocks named, for each name that the query reads.

    Returns
    -------
    DataFrame
        A streaming DataFrame if the streams are; with EMIT CHANGES it has the columns of a changelog.

    Examples
    --------
    events = spark.readStream.format("rate").load().selectExpr("value % 10 AS sensor", "timestamp AS ts")
    last = sw.sql(
        "SELECT sensor, COUNT(*) AS n FROM Events [RANGE 100 TUPLES, FREQUENCY 10 TUPLES] GROUP BY sensor",
        Events=sw.stream(events, "ts"),
    )
    assert last.columns == ["sensor", "n"]
    """
    given = {name: each if isinstance(each, Stream) else Stream(each) for name, each in streams.items()}
    catalog = Catalog(tuple(_definition(name, each) for name, each in given.items()))
    plan = _plan(query, catalog)
    return compile_plan(plan, {name: each.df for name, each in given.items()})


def _plan(query: str | Query | Plan, catalog: Catalog) -> Plan:
    if not isinstance(query, str):
        return optimise(check(bind(query.plan if isinstance(query, Query) else query, catalog.fill))).plan
    script = parse_script(query, catalog=catalog)
    if len(script.pipelines) != 1:
        raise InputError(
            "SW-408",
            f"there are {len(script.pipelines)} queries where one is needed",
            expected="statements with one query among them",
            hint="call sql once for each query",
        )
    return optimise(script.pipelines[0].plan, script.views).plan


def _definition(name: str, each: Stream) -> StreamDef:
    definition = definition_of(name, each.df)
    clocks = [field.name for field in definition.fields if field.type in TIMESTAMPS]
    event_time = each.event_time or (clocks[0] if len(clocks) == 1 else None)
    return replace(definition, event_time=event_time, arrival=each.arrival, source=each.source)
