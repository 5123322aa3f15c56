"""What the controls of a query had counted, as its checkpoint keeps it from batch to batch."""

from __future__ import annotations

import zlib
from pathlib import Path
from urllib.parse import quote, unquote

from slackwater.algebra.nodes import Policy
from slackwater.spark.batches import last_batch
from slackwater.spark.punctuate import Account, account_in
from slackwater.spark.state_files import StateFiles


def control_name(stream: str, event_time: str, policy: Policy, arrival: str | None, source: str | None) -> str:
    """The name of a stream's control within its query: that of the stream, and what tells it from another of it."""
    own = zlib.crc32(repr((policy, event_time, arrival, source)).encode())
    return f"{quote(stream or event_time, safe='')}-{own:08x}"


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
    return {} if last is None else accounts_after(checkpoint, last)


def accounts_after(checkpoint: Path, batch: int) -> dict[str, Account]:
    """The accounts of all controls after a batch, but for those of streams without a row so far.

    A batch that failed has none: it will be repeated.
    """
    controls = sorted(each.parent.name for each in checkpoint.glob(f"control/*/{batch}"))
    found = {control: account_before(checkpoint, control, batch + 1) for control in controls}
    return {control: account for control, account in found.items() if account != Account()}
