"""Sends this package to workers as a zip file, so that a cluster need not have it installed."""

from __future__ import annotations

import os
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from pyspark.sql import SparkSession

from slackwater.spark.shim.compiled import own_folder


@lru_cache(maxsize=1)
def ship_package(_application: str) -> None:
    """Send this package to all workers of an application, once. Workers that start later get it, too.

    The driver also starts Python processes, one for each stateful operator, with the interpreter of the workers. They
    ignore files added to the context. They find the package by PYTHONPATH, which functions that are created from now
    on carry with them.
    """
    context: Any = SparkSession.active().sparkContext
    file = str(make_package(Path(own_folder())))
    context.addPyFile(file)
    stated = context.environment.get("PYTHONPATH")
    context.environment["PYTHONPATH"] = os.pathsep.join([stated, file] if stated else [file])


def make_package(folder: Path) -> Path:
    """Write the sources of this package into a zip file from which Python can import. Return the file."""
    root = Path(str(resources.files("slackwater")))
    file = folder / "slackwater.zip"
    with ZipFile(file, "w") as packed:
        for each in sorted(root.rglob("*")):
            if each.is_file() and "__pycache__" not in each.parts:
                packed.write(each, f"slackwater/{each.relative_to(root)}")
    return file
