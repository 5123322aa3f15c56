"""A run with side outputs that is stopped by Ctrl-C: it stops cleanly, and every row is accounted for."""

import os
import re
import signal
from io import StringIO

import pytest
from rich.console import Console

from slackwater.app.dry_run import dry_run
from slackwater.app.live.watch import Watch
from slackwater.app.run import Conditions, run
from slackwater.errors import InputError
from slackwater.lang import parse_script

SCRIPT = """
CREATE STREAM Traffic (vehID INT, segment INT, speed DOUBLE, timestamp TIMESTAMP, received TIMESTAMP)
USING generate OPTIONS (stream 'vehicles', rate '1000', mean '0.3 seconds', pace 'max', batch '2 seconds')
TIMESTAMP BY timestamp ARRIVAL BY received;
CREATE SINK fastest USING console; CREATE SINK lateness USING memory;
INSERT INTO fastest
SELECT segment, MAX(speed) AS top, window_end
FROM Traffic [RANGE 2 seconds SLIDE 1 second DRATIO 5% USING adaptive] GROUP BY segment;
INSERT INTO lateness SELECT vehID, late_by FROM Traffic$late;
"""


class Impatient(Watch):
    """Whoever watches presses Ctrl-C once three batches are done."""

    def news(self, records):
        super().news(records)
        if any(record.batch >= 2 for record in records) and not self.stopped:
            self.stopped = True
            os.kill(os.getpid(), signal.SIGINT)

    stopped = False


def test_ctrl_c_stops_every_query_and_the_sum_is_right(spark, tmp_path):
    console = Console(file=StringIO(), width=200, highlight=False)
    run(parse_script(SCRIPT), Conditions(tmp_path, "local[2]"), Impatient(console))
    shown = console.file.getvalue()
    assert "stopping" in shown
    assert not spark.streams.active
    assert re.search(
        r"late .*% of 5% allowed, 0 rejected, hold .* s, (.* s behind|no watermark yet), .* held, state .* MB", shown
    ), shown
    counts = re.search(r"Traffic: ([\d,]+) rows in = ([\d,]+) on time \+ ([\d,]+) late \+ 0 rejected", shown)
    assert counts, shown
    total, on_time, late = (int(number.replace(",", "")) for number in counts.groups())
    assert total == on_time + late >= 6_000
    # A batch that was cut short may have been written before it could be counted.
    assert spark.table("lateness").count() >= late > 0
    assert spark.table("lateness").where("late_by <= 0").count() == 0


def test_a_dry_run_lists_side_outputs_too(spark):
    assert list(dry_run(parse_script(SCRIPT)))[-2:] == [
        "pipeline fastest: segment int, top double, window_end timestamp",
        "pipeline lateness: vehID int, late_by bigint",
    ]


def test_a_dry_run_takes_a_path_as_a_run_does_with_the_side_outputs_that_it_had(spark, tmp_path):
    (tmp_path / "batch=0").mkdir()
    text = SCRIPT.replace("fastest USING console", f"fastest USING parquet OPTIONS (path '{tmp_path}')")
    assert list(dry_run(parse_script(text)))[-1] == "pipeline lateness: vehID int, late_by bigint"
    with pytest.raises(InputError, match="SW-439"):
        list(dry_run(parse_script(text[: text.index("INSERT INTO lateness")])))
