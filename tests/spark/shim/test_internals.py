"""The shim names every internal of Spark that is used, finds all of them, and says in one line what is missing."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import pyspark
import pytest

import slackwater.spark
from slackwater.errors import RunError
from slackwater.spark.shim import internals
from slackwater.spark.shim.compiled import compile_sources
from slackwater.spark.shim.internals import JAVA, PYTHON, JavaClass, missing_java, missing_python
from slackwater.spark.shim.versions import TESTED, minor_of, version_warning, warn_unsupported

SPARK = Path(str(resources.files(slackwater.spark)))
PUBLIC = (
    *("org.apache.spark.sql.SparkSession", "org.apache.spark.sql.streaming.StreamingQuery"),
    *("org.apache.spark.TaskContext", "org.apache.spark.util.TaskCompletionListener"),
)
"""What the gauge uses of Spark that Spark documents."""
GATE = re.compile(r"\b_(jvm|jsparkSession|jsc|jdf|jc|gateway|jreader|jsq)\b")


def named(text: str) -> set[str]:
    return set(re.findall(r"org\.apache\.spark\.[\w.]+\.[A-Z][\w$]*", text))


def test_every_internal_class_that_the_java_sources_name_is_listed():
    used = {name for file in (SPARK / "shim" / "java").glob("*.java") for name in named(file.read_text())}
    listed = {name for each in JAVA for name in each.names}
    assert used, "the sources were not found"
    assert used - listed - set(PUBLIC) == set()


def test_only_the_shim_reaches_through_to_the_jvm():
    """`session.py` asks whether a JVM runs before it starts one."""
    outside = [file for file in SPARK.rglob("*.py") if "shim" not in file.parts and file.name != "session.py"]
    assert len(outside) > 50
    assert [str(file) for file in outside if GATE.search(file.read_text())] == []


def test_this_version_has_all_of_them(spark):
    assert missing_java(spark) == []
    assert missing_python() == []


def test_what_is_missing_is_named_in_one_line(spark, monkeypatch: pytest.MonkeyPatch):
    gone = JavaClass("org.apache.spark.sql.execution.streaming.runtime.Nowhere", before="org.apache.spark.Elsewhere")
    poorer = JavaClass("org.apache.spark.util.CollectionAccumulator", ("value", "peek"))
    monkeypatch.setattr(internals, "missing_java", lambda session: missing_java(session, (gone, poorer)))
    monkeypatch.setattr(internals, "missing_python", lambda: missing_python(("pyspark.nowhere.main", *PYTHON)))
    with pytest.raises(RunError) as caught:
        internals.check_internals(spark)
    assert str(caught.value).splitlines()[0] == (
        f"SW-503: Spark {pyspark.__version__} lacks org.apache.spark.sql.execution.streaming.runtime.Nowhere, "
        "org.apache.spark.util.CollectionAccumulator.peek, pyspark.nowhere.main"
    )


def test_a_source_that_does_not_compile_has_what_is_missing_named(spark, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(internals, "missing_java", lambda session: ["org.apache.spark.Nowhere"])
    parent = spark._jsparkSession.getClass().getClassLoader()
    source = "package slackwater; class Broken { org.apache.spark.Nowhere place; }"
    with pytest.raises(RunError, match=r"SW-503: Spark .* lacks org\.apache\.spark\.Nowhere"):
        compile_sources(spark, {"Broken.java": source}, parent)


def test_a_version_that_is_not_known_is_warned_about():
    assert [version_warning(version) for version in TESTED] == ["", "", "", ""]
    assert version_warning(pyspark.__version__) == ""
    assert minor_of(pyspark.__version__) in [minor_of(version) for version in TESTED]
    with pytest.warns(UserWarning, match=r"not tested with Spark 4\.9\.0, only with 4\.0 to 4\.3"):
        warn_unsupported("4.9.0")
