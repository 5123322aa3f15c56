"""Options of Spark's file formats that are nearly right get a warning."""

from slackwater.lang import parse_script
from slackwater.spark.io.spelling import FILES, OWN, doubts

SCRIPT = """
CREATE STREAM S (v INT, ts TIMESTAMP) USING csv
    OPTIONS (path 'x', heade 'true', column.v 'w', maxFilesPerTriger '1', my.own.connector 'x', nullValue '')
    TIMESTAMP BY ts;
CREATE SINK k USING json OPTIONS (path 'y', compresion 'gzip', changelog.profile 'flink');
CREATE STREAM G (v INT, ts TIMESTAMP) USING rate OPTIONS (rowPerSecond '1') TIMESTAMP BY ts;
INSERT INTO k SELECT v FROM S;
"""
OBJECTS = {
    "csv": "catalyst.csv.CSVOptions",
    "json": "catalyst.json.JSONOptions",
    "parquet": "execution.datasources.parquet.ParquetOptions",
    "orc": "execution.datasources.orc.OrcOptions",
    "text": "execution.datasources.text.TextOptions",
}


def test_a_misspelt_option_of_a_file_format_is_doubted():
    assert list(doubts(parse_script(SCRIPT))) == [
        "the stream 'S' has the option 'heade', which Spark's format csv does not know: did you mean 'header'?",
        "the stream 'S' has the option 'maxFilesPerTriger', which Spark's format csv does not know: "
        "did you mean 'maxFilesPerTrigger'?",
        "the sink 'k' has the option 'compresion', which Spark's format json does not know: "
        "did you mean 'compression'?",
    ]


def test_every_option_that_spark_knows_is_known(spark):
    for format_, name in OBJECTS.items():
        module = spark._jvm.java.lang.Class.forName(f"org.apache.spark.sql.{name}$").getField("MODULE$").get(None)
        own = set(module.getAllOptions().mkString(" ").split())
        assert own - set((FILES + OWN[format_]).split()) <= {"useUnsafeRow"}, format_
