"""A file system of another scheme, `ebb://pool/`, over the files of this machine, registered in a running session."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import ZipFile

from pyspark.sql import SparkSession

from slackwater.spark.shim.compiled import compile_sources, own_folder

SOURCE = Path(__file__).with_name("EbbFileSystem.java")
CLASS = "slackwater.EbbFileSystem"


def compiled(session: SparkSession) -> Path:
    """Return a jar with the file system, compiled as the gauge is."""
    parent = session._jsparkSession.getClass().getClassLoader()
    classes = compile_sources(session, {SOURCE.name: SOURCE.read_text()}, parent)
    jar = Path(own_folder()) / "ebb.jar"
    with ZipFile(jar, "w") as file:
        for name in classes.keySet():
            file.writestr(name, bytes(classes[name]))
    return jar


def register(session: SparkSession) -> Any:
    """Make `ebb://pool/` known to a session; gives the class, which counts renames and listings."""
    jvm: Any = session._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    loader.addURL(jvm.java.net.URI(compiled(session).as_uri()).toURL())
    session.conf.set("fs.ebb.impl", CLASS)
    return jvm.org.apache.spark.util.Utils.classForName(CLASS, True, False)


def address(path: Path) -> str:
    """Return the address in the store of what is a path on this machine."""
    return f"ebb://pool{path}"
