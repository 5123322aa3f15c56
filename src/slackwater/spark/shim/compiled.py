"""The Java classes of the gauge, compiled with Spark's own compiler (Janino) and sent to the executors."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pyspark
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from slackwater.spark.shim.internals import adapt_source, check_internals
from slackwater.spark.shim.versions import TESTED, warn_unsupported

PACKAGE = "slackwater"


def own_folder() -> str:
    """Return a new folder that only this user can read and that is removed when this process ends."""
    folder = tempfile.mkdtemp(prefix="slackwater-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def instance(session: SparkSession, name: str, *given: object) -> Any:
    """Return a new object of one of our classes on the driver. Executors load the classes from a jar."""
    context: Any = session.sparkContext
    values = context._gateway.new_array(context._jvm.java.lang.Object, len(given))
    for place, value in enumerate(given):
        values[place] = value
    loaded = _loaded(context.applicationId).loadClass(f"{PACKAGE}.{name}")
    return loaded.getConstructors()[0].newInstance(values)


@lru_cache(maxsize=1)
def _loaded(_application: str) -> Any:
    """Return the class loader of an application, which all its sessions share."""
    session = SparkSession.active()
    warn_unsupported()
    if pyspark.__version__ not in TESTED:  # the check takes half a second; tests make it for these versions
        check_internals(session)
    jvm: Any = session._jvm
    parent = session._jsparkSession.getClass().getClassLoader()
    classes = compile_sources(session, java_sources(session), parent)
    jar = Path(own_folder()) / "gauge.jar"
    with ZipFile(jar, "w") as file:
        for name in classes.keySet():
            file.writestr(name, bytes(classes[name]))
    session.sparkContext._jsc.addJar(str(jar))
    return jvm.org.codehaus.commons.compiler.util.reflect.ByteArrayClassLoader(classes, parent)


def java_sources(session: SparkSession) -> dict[str, str]:
    """Return our Java sources by file name, with the class names of this version of Spark."""
    files = [each for each in (resources.files(__package__) / "java").iterdir() if each.name.endswith(".java")]
    return {each.name: adapt_source(session, each.read_text()) for each in files}


def compile_sources(session: SparkSession, sources: dict[str, str], parent: Any) -> Any:
    """Return the compiled classes as a Java map from file names to bytes.

    If they do not compile, an error names the internal parts that this version of Spark lacks.
    """
    context: Any = session.sparkContext
    janino, util = context._jvm.org.codehaus.janino, context._jvm.org.codehaus.commons.compiler.util.resource
    given = context._gateway.new_array(util.Resource, len(sources))
    for place, (name, text) in enumerate(sources.items()):
        given[place] = util.StringResource(f"{PACKAGE}/{name}", text)
    compiler, made = janino.Compiler(), util.MapResourceCreator()
    compiler.setIClassLoader(janino.ClassLoaderIClassLoader(parent))
    compiler.setClassFileCreator(made)
    try:
        compiler.compile(given)
    except Py4JJavaError:
        check_internals(session)
        raise
    return made.getMap()
