"""The accounts of the controls of a query, which its checkpoint keeps after each batch."""

from __future__ import annotations

import zlib
from urllib.parse import quote, unquote

from slackwater.algebra.nodes import Policy
from slackwater.spark.batches import last_batch
from slackwater.spark.store import Location
from slackwater.spark.watermark.punctuate import Account, account_in
from slackwater.spark.watermark.state_files import CONTROL, StateFiles


def control_name(stream: str, event_time: str, policy: Policy, arrival: str | None, source: str | None) -> str:
    """Return the name of a control: the stream, and a checksum that distinguishes several controls of the stream."""
    stated = repr((policy, event_time, arrival, source)).replace(", within=None", "")  # for checkpoints without it
    own = zlib.crc32(stated.encode())
    return f"{quote(stream or event_time, safe='')}-{own:08x}"


def number_control(control: str, number: int) -> str:
    """Return the name of the n-th control with the same name in a query, in the order in which they were made.

    >>> number_control("ts-0badcafe", 1), stream_of(number_control("ts-0badcafe", 2))
    ('ts-0badcafe', 'ts#2')
    """
    stream, _, own = control.rpartition("-")
    return control if number == 1 else f"{stream}{quote(f'#{number}')}-{own}"


def stream_of(control: str) -> str:
    """Return the name of the stream of a control.

    >>> stream_of("Traffic%20north-0badcafe")
    'Traffic north'
    """
    return unquote(control.rpartition("-")[0])


def account_before(checkpoint: Location, control: str, batch: int) -> Account:
    """Return the account of a control before a batch: its punctuation is the one that acts in the batch."""
    kept = StateFiles(checkpoint, control).read(batch)
    return account_in(kept) if kept else Account()


def accounts_kept(checkpoint: Location) -> dict[str, Account]:
    """Return the accounts of all controls after the last completed batch."""
    last = last_batch(checkpoint)
    controls = [] if last is None else controls_in(checkpoint)
    return _of_some({each: account_before(checkpoint, each, (last or 0) + 1) for each in controls})


def accounts_after(checkpoint: Location, batch: int) -> dict[str, Account]:
    """Return the accounts of all controls that a batch has changed. A batch that failed has changed none."""
    controls = [each for each in controls_in(checkpoint) if StateFiles(checkpoint, each).after(batch).exists()]
    return _of_some({each: account_before(checkpoint, each, batch + 1) for each in controls})


def controls_in(checkpoint: Location) -> list[str]:
    """Return the names of the controls with state in a checkpoint."""
    return [each.name for each in (checkpoint / CONTROL).list()]


def _of_some(found: dict[str, Account]) -> dict[str, Account]:
    """Return the accounts of streams that have had a row."""
    return {control: account for control, account in found.items() if account != Account()}
