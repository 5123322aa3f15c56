"""What the controls of a query had counted, as its checkpoint keeps it from batch to batch."""

from __future__ import annotations

import zlib
from pathlib import Path
from urllib.parse import quote, unquote

from slackwater.algebra.nodes import Policy
from slackwater.spark.batches import last_batch
from slackwater.spark.watermark.punctuate import Account, account_in
from slackwater.spark.watermark.state_files import StateFiles


def control_name(stream: str, event_time: str, policy: Policy, arrival: str | None, source: str | None) -> str:
    """The name of a stream's control within its query: that of the stream, and what tells it from another of it."""
    own = zlib.crc32(repr((policy, event_time, arrival, source)).encode())
    return f"{quote(stream or event_time, safe='')}-{own:08x}"


def numbered(control: str, number: int) -> str:
    """The name of a control of which the query has several: they are told apart by the order in which they were made.

    >>> numbered("ts-0badcafe", 1), stream_of(numbered("ts-0badcafe", 2))
    ('ts-0badcafe', 'ts#2')
    """
    stream, _, own = control.rpartition("-")
    return control if number == 1 else f"{stream}{quote(f'#{number}')}-{own}"


def stream_of(control: str) -> str:
    """The stream of a control.

    >>> stream_of("Traffic%20north-0badcafe")
    'Traffic north'
    """
    return unquote(control.rpartition("-")[0])


def control_folder(checkpoint: str | Path, control: str) -> str:
    return f"{checkpoint}/control/{control}"


def account_before(checkpoint: Path, control: str, batch: int) -> Account:
    """The account of a control before a batch: its punctuation is the one that acts in the batch."""
    kept = StateFiles(control_folder(checkpoint, control)).read(batch)
    return account_in(kept) if kept else Account()


def accounts_kept(checkpoint: Path) -> dict[str, Account]:
    """The accounts of all controls after the last batch that was done."""
    last = last_batch(checkpoint)
    controls = [] if last is None else sorted(each.name for each in checkpoint.glob("control/*"))
    return _of_some({each: account_before(checkpoint, each, (last or 0) + 1) for each in controls})


def accounts_after(checkpoint: Path, batch: int) -> dict[str, Account]:
    """The accounts of all controls that a batch has changed. One that failed has changed none: it will be repeated."""
    controls = sorted(each.parent.name for each in checkpoint.glob(f"control/*/{batch}"))
    return _of_some({each: account_before(checkpoint, each, batch + 1) for each in controls})


def _of_some(found: dict[str, Account]) -> dict[str, Account]:
    """Without the accounts of streams that have had no row so far."""
    return {control: account for control, account in found.items() if account != Account()}
