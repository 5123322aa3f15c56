"""Makes the checkpoint that tests/upgrades keeps of the present format: `python tools/make_checkpoints.py`.

Run it when the format of checkpoints or a state changes before a release, and then for each release. Those of formats
that were released stay as they are.
The tests of tests/upgrades go on from what it keeps and compare the answers.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.upgrades.pipelines import kept_file, make

from slackwater.spark.session import local_session


def main() -> None:
    session = local_session("slackwater-checkpoints", master="local[2]")
    with TemporaryDirectory() as name:
        make(Path(name), kept_file())
    session.stop()
    print(f"{kept_file()}: {kept_file().stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
