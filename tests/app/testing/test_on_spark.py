"""Cases on Spark: what a page says of a query is what its pipeline does, batch by batch, late rows and all.

The whole of docs/semantics.md passes (but for three joins at rows, which have no plan); a few cases stand for it here.
"""

from pathlib import Path

import pytest

from slackwater.app.testing.on_spark import OnSpark
from slackwater.app.testing.page import Page, load_page, read_page
from slackwater.app.testing.run import run_block

ROOT = Path(__file__).parents[3]
SEMANTICS = load_page(ROOT / "docs" / "semantics.md")
CHOSEN = (
    "A late row is lost to the windows that were emitted",
    "No result of a boundary appears before both sides",
    "A key that lives already is refused",
    "An extent that was passed without a row has no sync tuple",
)
OWN = read_page(
    """
```sql
CREATE STREAM T (i INT, n BIGINT, x DOUBLE, f FLOAT, s STRING, b BOOLEAN, d DATE, m DECIMAL(6,2), a ARRAY<INT>,
                 u TIMESTAMP_NTZ, time STRING, ts TIMESTAMP) USING json TIMESTAMP BY ts;
```

## Values of every type pass, and rows without an event time are rejected

```example
SELECT * FROM T

T      | ts                  | i  | n | x   | f   | s       | b    | d          | m    | a         | u        | time
0      | 2024-05-01 10:00:00 | -  | 7 | 0.1 | 0.1 | "a | b" | true | 2024-05-01 | 1.50 | [1, null] | 00:00:01 | noon
0      | -                   | 9  | 8 | 2.5 | 1.5 | "-"     | -    | 2024-05-02 | 2.5  | [2]       | 00:00:02 | -
flush

result | ts                  | i  | n | x   | f   | s       | b    | d          | m    | a         | u        | time
1      | 2024-05-01 10:00:00 | -  | 7 | 0.1 | 0.1 | "a | b" | true | 2024-05-01 | 1.50 | [1, null] | 00:00:01 | noon

rejected | ts | i | n | x   | f   | s   | b | d          | m   | a   | u        | time
0        | -  | 9 | 8 | 2.5 | 1.5 | "-" | - | 2024-05-02 | 2.5 | [2] | 00:00:02 | -
```

## A function that only Spark knows

```example
SELECT HEX(n) AS h FROM T [RANGE 2 TUPLES]

T      | ts | n
0      | 1  | 255
0 ends, P = 2
1 ends

result | time | h
1      | 1    | FE
```

## A punctuation that Spark cannot count

```example
SELECT n FROM T

T      | ts | n
0 ends, P = 5-
```
""",
    Path("own.md"),
)
BLOCKS = [(SEMANTICS, each) for each in SEMANTICS.blocks if each.title.startswith(CHOSEN)]


@pytest.fixture(scope="module")
def on_spark(spark) -> OnSpark:
    return OnSpark()


@pytest.mark.parametrize(
    ("page", "block"), [*BLOCKS, (OWN, OWN.blocks[0])], ids=lambda each: getattr(each, "title", "")[:30]
)
def test_what_a_page_says_is_what_spark_does(on_spark, page: Page, block):
    outcome = run_block(page, block, on_spark)
    assert outcome.passed, outcome.report().plain
    assert outcome.found is not None
    assert not outcome.found.unknown


def test_what_differs_on_spark_is_shown(on_spark):
    unknown = run_block(OWN, OWN.blocks[1])
    assert unknown.error is not None
    assert unknown.error.code == "SW-240"
    shown = run_block(OWN, OWN.blocks[1], on_spark).report().plain
    assert "  - 1      | FE\n  + 1      | FF\n             ^^\n" in shown
    refused = run_block(OWN, OWN.blocks[2], on_spark)
    assert refused.error is not None
    assert refused.error.code == "SW-487"


def test_the_chosen_cases_are_on_the_page():
    assert len(BLOCKS) == len(CHOSEN)
