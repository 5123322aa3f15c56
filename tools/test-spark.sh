#!/usr/bin/env bash
# Runs the Spark tests with another version of Spark, in a virtual environment of its own below .versions/.
# usage: tools/test-spark.sh VERSION [PYTEST ARGUMENTS]
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:?usage: tools/test-spark.sh VERSION [PYTEST ARGUMENTS]}
shift
venv=.versions/$version
if [ ! -e "$venv/.ready" ] || [ constraints.txt -nt "$venv/.ready" ]; then
    "${PYTHON:-python3}" -m venv "$venv"
    # Everything as it was tested, but for Spark itself and the bridge to Java that it asks for.
    grep -v -e '^pyspark==' -e '^py4j==' constraints.txt >"$venv/constraints.txt"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
        -c "$venv/constraints.txt" "pyspark==$version" -e '.[dev]'
    touch "$venv/.ready"
fi
[ $# -gt 0 ] || set -- tests/spark tests/faults
# Sockets that older versions of pyspark leave to the garbage collector are no failures of ours.
exec "$venv/bin/python" -m pytest -q -p no:cacheprovider \
    -W ignore::ResourceWarning -W ignore::pytest.PytestUnraisableExceptionWarning "$@"
