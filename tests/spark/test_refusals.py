"""What Spark says when it refuses something, in one line."""

import pytest

from slackwater.spark.refusals import line_of

TRACED = """[STREAM_FAILED] Query [id = 1] terminated with exception: Job aborted: Traceback (most recent call last):
  File "/spark/worker.py", line 3, in main
    process()
  File "/slackwater/fused/operator.py", line 62, in _stepped
    raise cause
{raised}

\tat org.apache.spark.api.python.BasePythonRunner.read(PythonRunner.scala:1)
Caused by: java.lang.RuntimeException: no
=== Streaming Query ===
"""


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        ("slackwater.errors.RunError: SW-581: 300 is no tinyint\n  do: widen it", "SW-581: 300 is no tinyint"),
        ("ValueError: no such thing", "ValueError: no such thing"),
        ("pyarrow.lib.ArrowInvalid\nOverflowError: too large", "OverflowError: too large"),
    ],
)
def test_a_failure_in_python_says_what_was_raised(raised: str, told: str):
    assert line_of(TRACED.format(raised=raised)) == told


def test_any_other_says_its_first_line():
    assert line_of("\n  [NO] there is none\n\tat java.lang.Thread") == "[NO] there is none"
    assert line_of("") == ""
