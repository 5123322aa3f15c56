"""No secret is shown, in documents, Spark's plan or errors; and nothing is run with what was hidden."""

import json
from pathlib import Path

import pytest

import slackwater as sw
from slackwater.algebra.catalog import Script, SinkDef, StreamDef
from slackwater.app.front import script_from
from slackwater.app.load import load
from slackwater.app.plans.documents import document_of, script_of
from slackwater.app.secrets import hide_secrets, mask_errors, mask_secrets, secrets_in
from slackwater.errors import InputError, QueryError, RunError
from slackwater.lang import parse_script

SECRET = "h1ghTide"
STREAM = """
CREATE STREAM Tides (level DOUBLE, at TIMESTAMP) USING kafka OPTIONS (topic 'tides', kafka.sasl.jaas.config '${PW}')
TIMESTAMP BY at;
"""


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "kafka.ssl.key.password",
        "kafka.sasl.jaas.config",
        "fs.azure.account.key.tides.dfs.core.windows.net",
        "spark.hadoop.fs.s3a.access.key",
        "spark.hadoop.fs.s3a.secret.key",
        "apikey",
        "api_key",
        "private_key",
        "privateKey",
        "kafka.ssl.keystore.key",
        "passphrase",
        "sasToken",
    ],
)
def test_an_option_that_is_a_secret_by_its_name(name: str):
    assert hide_secrets({name: SECRET}) == {name: "***"}
    assert list(secrets_in({name: SECRET})) == [SECRET]


@pytest.mark.parametrize(
    "value",
    [
        f"jdbc:postgresql://db/tides?user=low&password={SECRET}&ssl=true",
        f"jdbc:sqlserver://db:1433;user=low;password={SECRET};encrypt=true",
        f"jdbc:sqlserver://db:1433;password={{{SECRET}}};encrypt=true",
        f"jdbc:oracle:thin:low/{SECRET}@//db:1521/tides",
        f"mongodb://low:{SECRET}@one:27017,two:27017/tides",
        f"redis://:{SECRET}@db:6379",
        f"host=db password='{SECRET}' user=low",
        f"Endpoint=sb://tides.example.net/;SharedAccessKeyName=low;SharedAccessKey={SECRET};EntityPath=tides",
        f'{{"user": "low", "password": "{SECRET}"}}',
    ],
)
def test_a_secret_inside_a_value(value: str):
    shown = hide_secrets({"url": value})["url"]
    assert SECRET not in shown
    assert "***" in shown
    assert list(secrets_in({"url": value})) == [SECRET]
    assert "***" in secrets_in({"url": shown})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("password_env", "PGPASSWORD"),
        ("spark.hadoop.fs.s3a.aws.credentials.provider", "com.example.Provider"),
        ("spark.security.credentials.hive.enabled", "false"),
        ("path", "/tides/***/2024@low:1/x"),
        ("url", "jdbc:postgresql://db:5432/tides?user=low&ssl=true"),
        ("kafka.bootstrap.servers", "one:9092,two:9092"),
        ("key", "vehID"),
        ("table", "passengers"),
    ],
)
def test_what_is_no_secret_is_shown(name: str, value: str):
    assert hide_secrets({name: value}) == {name: value}
    assert list(secrets_in({name: value})) == []


def test_sparks_plan_has_no_secret_of_streams_sinks_or_settings():
    stream = StreamDef("S", (), "kafka", {"topic": "tides", "kafka.sasl.jaas.config": "user=low pass=high"})
    sink = SinkDef("T", "jdbc", {"url": "jdbc:postgresql://low:neap@db/tides"})
    script = Script((stream,), (), (sink,), settings={"spark.hadoop.fs.s3a.secret.key": "spring"})
    text = "Relation [topic=tides, config=user=low pass=high] to db as low:neap, spring"
    assert mask_secrets(script, text) == "Relation [topic=tides, config=***] to db as low:***, ***"


@pytest.mark.parametrize(
    ("secret", "text", "shown"),
    [
        ("x", "export PGPASSWORD; password=x x", "export PGPASSWORD; password=*** x"),
        ("tide", "tides of tide: low:tide@db", "tides of ***: low:***@db"),
        (SECRET, f"a{SECRET}b", "a***b"),
    ],
)
def test_a_short_secret_is_hidden_only_where_it_stands_alone(secret: str, text: str, shown: str):
    assert mask_secrets(Script(settings={"spark.password": secret}), text) == shown


def test_an_error_does_not_quote_a_secret():
    script = Script(settings={"spark.hadoop.fs.s3a.secret.key": SECRET})
    with pytest.raises(RunError) as caught, mask_errors(script):
        raise RunError("SW-510", f"Spark says that {SECRET} is wrong", hint=f"do not use {SECRET}")
    assert SECRET not in str(caught.value)
    assert SECRET not in repr(caught.value)
    assert caught.value.code == "SW-510"


def test_a_document_keeps_the_settings():
    script = parse_script(
        "SET spark.sql.shuffle.partitions = 3; SET spark.slackwater.fused.chain = true;" + STREAM, variables={"PW": ""}
    )
    assert script_of(json.loads(json.dumps(document_of(script)))).settings == {
        "spark.sql.shuffle.partitions": "3",
        "spark.slackwater.fused.chain": "true",
    }


def test_settings_count_for_a_plan_that_was_built():
    declared = "SET spark.sql.shuffle.partitions = 3;" + STREAM
    script = script_from(sw.scan("Tides").select("level"), declared.replace("${PW}", ""))
    assert script.settings == {"spark.sql.shuffle.partitions": "3"}


def test_options_of_a_document_may_be_numbers():
    sinks = [{"name": "Out", "format": "noop", "options": {"rows": 8, "header": True}}]
    assert script_of({"slackwater": 1, "sinks": sinks}).sinks[0].options == {"rows": "8", "header": "true"}


@pytest.mark.parametrize("settings", [["spark.a"], {"spark.a": 1}])
def test_settings_of_another_shape_are_refused(settings: object):
    with pytest.raises(QueryError, match="SW-126"):
        script_of({"slackwater": 1, "settings": settings})


def test_a_setting_that_is_not_sparks_is_refused_in_a_document():
    with pytest.raises(QueryError, match="SW-229"):
        script_of({"slackwater": 1, "settings": {"a": "1"}})


@pytest.mark.parametrize(
    ("text", "owner"),
    [
        (STREAM, "'kafka.sasl.jaas.config' of 'Tides'"),
        ("CREATE SINK Out USING jdbc OPTIONS (url 'jdbc:postgresql://low:${PW}@db/tides')", "'url' of 'Out'"),
        ("SET spark.hadoop.fs.s3a.secret.key = '${PW}'", "'spark.hadoop.fs.s3a.secret.key' of the settings"),
    ],
)
def test_what_was_hidden_is_not_run_with(text: str, owner: str, tmp_path: Path):
    document = json.dumps(document_of(parse_script(text, variables={"PW": SECRET})))
    assert SECRET not in document
    file = tmp_path / "plan.json"
    file.write_text(document)
    with pytest.raises(InputError, match="SW-410") as caught:
        load(file)
    assert owner in str(caught.value)
    file.write_text(document.replace("***", SECRET))
    assert load(file)


def test_a_value_of_the_command_line_is_not_told(tmp_path: Path):
    file = tmp_path / "q.sql"
    file.write_text(STREAM)
    with pytest.raises(InputError, match="SW-403") as caught:
        load(file, [f"my-password={SECRET}"])
    assert SECRET not in str(caught.value)
