"""The gauge's Java, compiled by the compiler that Spark brings along, and handed to the executors."""

from __future__ import annotations

import tempfile
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from pyspark.sql import SparkSession

CLASS = "slackwater.Gauge"


def gauge_class(session: SparkSession) -> Any:
    """The class on the driver. Executors find it in a jar that Spark sends to them."""
    return _compiled(session.sparkContext.applicationId, session)


@cache
def _compiled(_application: str, session: SparkSession) -> Any:
    jvm: Any = session._jvm
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.cook(resources.files(__package__).joinpath("Gauge.java").read_text())
    found = compiler.getBytecodes()
    jar = Path(tempfile.mkdtemp(prefix="slackwater-")) / "gauge.jar"
    with ZipFile(jar, "w") as file:
        for name in found.keySet():
            file.writestr(name.replace(".", "/") + ".class", bytes(found[name]))
    session.sparkContext._jsc.addJar(str(jar))
    return compiler.getClassLoader().loadClass(CLASS)
