"""Options of our own sources and sinks: one table each, and errors that list what is valid."""

import pytest
from tests.docs.options_page import SINK_TABLES, SOURCE_TABLES

from slackwater.errors import InputError
from slackwater.spark.io.kafka.sink import TABLE as KAFKA_SINK
from slackwater.spark.io.sinks import OWN_FORMATS
from slackwater.spark.io.sinks.postgres.server import TABLE as POSTGRES
from slackwater.spark.io.sources.recipe import GENERATE
from slackwater.spark.io.sources.replay import TABLE as REPLAY
from slackwater.spark.operator.writing import form_of
from slackwater.spark.options import OptionKind, Options, OptionTable

TABLES = SOURCE_TABLES + SINK_TABLES


def test_every_sink_of_our_own_has_a_table():
    assert {table.name for table in SINK_TABLES} == {*OWN_FORMATS, "changelog"}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_table_documents_its_options(table: OptionTable):
    assert len({each.name.lower() for each in table.options}) == len(table.options)
    for each in table.options:
        assert each.about.endswith("."), each.name
        assert not (each.required and each.default), each.name
        assert bool(each.choices) >= (each.kind is OptionKind.CHOICE), each.name
        assert each.default is None or each.parse(each.default) is not None or each.kind is OptionKind.PACE


@pytest.mark.parametrize(
    ("table", "owner", "given", "told"),
    [
        (GENERATE, "", {"rat": "5"}, ("SW-440: source generate has no option 'rat'", "rate, rows, senders", "'rate'?")),
        (GENERATE, "", {"zzz": "5"}, ("SW-440", "stream, rate, rows", "column.NAME", "write one of these")),
        (GENERATE, "", {"stream": "vehicle"}, ("SW-442: option stream of source generate", "vehicles", "'vehicles'?")),
        (GENERATE, "", {"delay": "zzz"}, ("SW-442", "none, exponential, normal, lognormal, pareto, changing")),
        (GENERATE, "", {"senders": "0"}, ("SW-442", "a whole number of at least 1")),
        (GENERATE, "", {"mean": "fast"}, ("SW-442", "a time such as '0.5 seconds'")),
        (GENERATE, "", {"pace": "quick"}, ("SW-442", "a multiple of real time, or max")),
        (GENERATE, "", {"start": "soon"}, ("SW-442", "a date such as '2024-01-01'")),
        (REPLAY, "", {"event": "ts"}, ("SW-441: source replay needs the option 'path'",)),
        (REPLAY, "", {"path": "x", "event": "ts", "unit": "ns"}, ("SW-442", "s, ms, us")),
        (REPLAY, "", {"path": "x", "event": "ts", "batch": "some"}, ("SW-442", "'500 rows'")),
        (
            KAFKA_SINK,
            "the sink 'k'",
            {"topc": "x"},
            ("SW-450: the sink 'k' has no option 'topc'", "topic, key", "'topic'?"),
        ),
        (
            KAFKA_SINK,
            "the sink 'k'",
            {"transaction": "yes"},
            ("SW-457: option transaction of the sink 'k'", "true or false"),
        ),
        (POSTGRES, "the sink 'p'", {"restart": "maybe"}, ("SW-457", "refuse, clear")),
        (POSTGRES, "the sink 'p'", {"port": "five"}, ("SW-457", "a whole number of at least 1")),
    ],
)
def test_what_is_wrong_is_told_with_what_is_valid(
    table: OptionTable, owner: str, given: dict[str, str], told: tuple[str, ...]
):
    with pytest.raises(InputError) as caught:
        Options(table, given, owner)
    for each in told:
        assert each in str(caught.value)


def test_names_are_read_without_regard_to_case_and_prefixes_are_left_alone():
    given = {"Topic": "tides", "Kafka.bootstrap.servers": "x:1", "kafka.acks": "all", "CHANGELOG.profile": "flink"}
    options = Options(KAFKA_SINK, given, "the sink 'k'")
    assert (options["topic"], options["timeout"], options.get("key", "none")) == ("tides", 60, "none")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"changelog.upsert": "true"}, ("SW-463", "changelog.netChanges", "did you mean 'changelog.upserts'?")),
        ({"changelog.updates": "maybe"}, ("SW-459", "true or false")),
    ],
)
def test_options_of_a_changelog_are_checked(given: dict[str, str], told: tuple[str, ...]):
    with pytest.raises(InputError) as caught:
        form_of(given)
    for each in told:
        assert each in str(caught.value)
