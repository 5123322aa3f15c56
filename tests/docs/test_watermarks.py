"""The page of the language: what each clause about late rows does to the watermark, row by row."""

import re
from collections.abc import Iterator

import numpy as np
import pytest
from tests.docs.blocks import ROOT, Block, blocks

from slackwater.algebra.nodes import Disorder, walk
from slackwater.lang import parse_script
from slackwater.spark.watermark.policy import controller_of

MS = 1_000
STREAM = "CREATE STREAM S (k STRING, v INT, ts TIMESTAMP) USING json OPTIONS (path 's') TIMESTAMP BY ts;"
QUERY = "SELECT MAX(v) AS top FROM S [RANGE 1 minute SLIDE 1 minute {}]"  # the page has the clauses
BLOCKS = [block for block in blocks("watermark") if block.file == ROOT / "docs" / "language.md"]


def rows_of(line: str) -> Iterator[tuple[int, int, str]]:
    """Yield (arrival, ts, sender) of a line. `1 to 9` has a row each second, of the senders in turn."""
    arrival, ts, sender = line.split("|")[:3]
    first, *last = map(int, re.findall(r"\d+", arrival))
    names = sender.split()
    for second in range(first, (last or [first])[0] + 1):
        yield second, second if last else int(ts), names[second % len(names)]


def shown(watermark: int) -> str:
    """Return a watermark in seconds. One that lies just after a second has a plus."""
    seconds, rest = divmod(watermark, MS)
    return "" if watermark < 0 else f"{seconds}{'+' if rest else ''}"


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_a_clause_moves_the_watermark_as_the_page_says(block: Block):
    clauses, _, _, *lines = block.text.strip().splitlines()
    (pipeline,) = parse_script(STREAM + QUERY.format(clauses)).pipelines
    (policy,) = [node.policy for node in walk(pipeline.plan) if isinstance(node, Disorder)]
    controller, known = controller_of(policy), ["a", "b"]
    for line in lines:
        late = suspect = False
        for arrival, ts, sender in rows_of(line):
            before = controller.progress
            controller.observe(np.array([ts * MS]), np.array([arrival * MS]), np.array([known.index(sender)]))
            late |= controller.progress.late > before.late
            suspect |= controller.progress.suspect > before.suspect
        said = "late" if late else "suspect" if suspect else "on time"
        assert [each.strip() for each in line.split("|")[3:]] == [said, shown(controller.progress.punctuation)], line


def test_every_clause_has_such_a_table():
    told = " ".join(block.text.splitlines()[0] for block in BLOCKS)
    for clause in ("SLACK", "DRATIO", "USING", "WITHIN", "BSIZE", "IDLE", "SKEW"):
        assert clause in told
