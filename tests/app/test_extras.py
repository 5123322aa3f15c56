"""The core runs without the extras; what needs one says which."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.long

PROGRAM = """
import sys
for name in ("bokeh", "tornado", "matplotlib", "prometheus_client", "IPython"):
    sys.modules[name] = None  # as if it were not installed
import slackwater as sw
from slackwater.app.run import run
from slackwater.cli.main import main
from slackwater.dashboard.process import Dashboard
from slackwater.errors import InputError

SQL = "CREATE STREAM S (k INT, ts TIMESTAMP) USING rate TIMESTAMP BY ts; SELECT k FROM S [RANGE 1 second];"
assert "Scan S" in sw.explain(SQL)
for asked in (lambda: sw.explain(SQL, format="svg"), Dashboard):
    try:
        asked()
    except InputError as error:
        print(error.problem.code, error.problem.hint)
"""


def test_without_bokeh_and_matplotlib_queries_are_explained_and_pictures_name_their_extra():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "SW-482 in the clone: pip install '.[plot]'",
        "SW-482 in the clone: pip install '.[dashboard]'",
    ]


def test_the_server_of_the_dashboard_does_not_load_spark():
    asked = "import sys, slackwater.dashboard.server; sys.exit('pyspark' in sys.modules)"
    subprocess.run([sys.executable, "-c", asked], check=True)
