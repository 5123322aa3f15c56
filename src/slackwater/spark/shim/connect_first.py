"""A Python process of Spark's driver that connects first and imports afterwards.

Spark's driver starts a process for each Python source and for each stateful operator, and gives it up if it has not
connected after 10 seconds; no setting changes that. PySpark's own modules import first, which takes longer than that on
a busy machine. Only the standard library is imported here before the connection, and nothing of it that is slow.
"""

import os
import socket
import struct
import sys
from importlib import import_module
from runpy import run_module
from typing import BinaryIO

PORT, SECRET = "PYTHON_WORKER_FACTORY_PORT", "PYTHON_WORKER_FACTORY_SECRET"


def connect() -> BinaryIO:
    """Return a connection to Spark, after the greeting that Spark expects: its secret, then the id of this process."""
    host = "::1" if os.environ.get("SPARK_PREFER_IPV6", "false").lower() == "true" else "127.0.0.1"
    patience = int(os.environ.get("SPARK_AUTH_SOCKET_TIMEOUT", "15"))
    connection = socket.create_connection((host, int(os.environ[PORT])), patience)
    file = connection.makefile("rwb", int(os.environ.get("SPARK_BUFFER_SIZE", "65536")))
    secret = os.environ[SECRET].encode()
    file.write(struct.pack(">i", len(secret)) + secret)
    file.flush()
    (size,) = struct.unpack(">i", file.read(4))
    if file.read(size) != b"ok":
        raise ConnectionRefusedError("Spark did not take the secret")
    file.write(struct.pack(">i", os.getpid()))
    file.flush()
    connection.settimeout(None)
    return file  # type: ignore[return-value]


def main(module: str) -> None:
    """Run a module of PySpark as `python -m` does; where Spark has no port, in its own way."""
    if PORT not in os.environ:
        run_module(module, run_name="__main__", alter_sys=True)
        return
    with connect() as file:
        import_module(module).main(file, file)


if __name__ == "__main__":
    main(sys.argv[1])
