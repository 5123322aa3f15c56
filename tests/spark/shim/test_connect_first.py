"""Processes of Spark's driver connect before they import: Spark waits for the connection, and not for long."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

from slackwater.spark.shim.workers import MODULES, local_interpreter

SLOW = """
import os, time
while not os.path.exists(os.environ["GO"]):
    time.sleep(0.01)
def main(given, out):
    out.write(given.read(2) + b" imported")
    out.flush()
"""


def module_in(folder: Path) -> dict[str, str]:
    """An environment in which PySpark's module takes until the file GO is there to be imported."""
    *package, name = MODULES[0].split(".")
    place = folder.joinpath(*package)
    place.mkdir(parents=True)
    for each in (place, *place.parents[:2]):
        (each / "__init__.py").touch()
    (place / f"{name}.py").write_text(SLOW)
    return {**os.environ, "PYTHONPATH": str(folder), "GO": str(folder / "go")}


def test_a_process_connects_before_it_imports(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        port = str(server.getsockname()[1])
        told = {"PYTHON_WORKER_FACTORY_PORT": port, "PYTHON_WORKER_FACTORY_SECRET": "s3cret"}
        command = [local_interpreter(str(tmp_path)), "-m", MODULES[0]]
        with subprocess.Popen(command, env=module_in(tmp_path / "path") | told) as process:
            connection, _ = server.accept()
            with connection, connection.makefile("rwb") as file:
                assert file.read(4 + 6) == struct.pack(">i", 6) + b"s3cret"
                file.write(struct.pack(">i", 2) + b"ok")
                file.flush()
                assert struct.unpack(">i", file.read(4)) == (process.pid,)  # the module is still being imported
                (tmp_path / "path" / "go").touch()
                file.write(b"is")
                file.flush()
                assert file.read(11) == b"is imported"
            assert process.wait(60) == 0


def test_everything_else_is_this_interpreter(tmp_path: Path):
    code = "import sys; print(sys.executable, sys.argv[1:], sys.path[0] == '')"
    command = [local_interpreter(str(tmp_path)), "-c", code, "a b"]
    told = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | {"PYTHONSAFEPATH": ""})
    assert told.stdout == f"{sys.executable} ['a b'] True\n"
