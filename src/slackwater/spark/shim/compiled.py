"""The gauge's Java, compiled by the compiler that Spark brings along, and handed to the executors."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from pyspark.sql import SparkSession

PACKAGE = "slackwater"


def own_folder() -> str:
    """A folder that only this user can read, and that goes with this process."""
    folder = tempfile.mkdtemp(prefix="slackwater-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def instance(session: SparkSession, name: str, *given: object) -> Any:
    """An object of one of the classes, on the driver. Executors find them in a jar that Spark sends to them."""
    context: Any = session.sparkContext
    values = context._gateway.new_array(context._jvm.java.lang.Object, len(given))
    for place, value in enumerate(given):
        values[place] = value
    loaded = _loaded(context.applicationId).loadClass(f"{PACKAGE}.{name}")
    return loaded.getConstructors()[0].newInstance(values)


@lru_cache(maxsize=1)
def _loaded(_application: str) -> Any:
    """The classes of an application, whichever of its sessions asks for them first."""
    session = SparkSession.active()
    jvm: Any = session._jvm
    parent = session._jsparkSession.getClass().getClassLoader()
    classes = _compiled(session, parent)
    jar = Path(own_folder()) / "gauge.jar"
    with ZipFile(jar, "w") as file:
        for name in classes.keySet():
            file.writestr(name, bytes(classes[name]))
    session.sparkContext._jsc.addJar(str(jar))
    return jvm.org.codehaus.commons.compiler.util.reflect.ByteArrayClassLoader(classes, parent)


def _compiled(session: SparkSession, parent: Any) -> Any:
    """The classes as a map from the names of their files to what is in them."""
    context: Any = session.sparkContext
    janino, util = context._jvm.org.codehaus.janino, context._jvm.org.codehaus.commons.compiler.util.resource
    sources = [each for each in (resources.files(__package__) / "java").iterdir() if each.name.endswith(".java")]
    given = context._gateway.new_array(util.Resource, len(sources))
    for place, each in enumerate(sources):
        given[place] = util.StringResource(f"{PACKAGE}/{each.name}", each.read_text())
    compiler, made = janino.Compiler(), util.MapResourceCreator()
    compiler.setIClassLoader(janino.ClassLoaderIClassLoader(parent))
    compiler.setClassFileCreator(made)
    compiler.compile(given)
    return made.getMap()
