"""Feeds that go on until nothing that a window limits lives."""

from __future__ import annotations

from collections.abc import Mapping

from slackwater.algebra.nodes import Plan, Scan, walk
from slackwater.semantics import Feed, FeedBatch


def ended(plan: Plan, feeds: Mapping[str, Feed]) -> dict[str, Feed]:
    """Return the feeds, and then a punctuation at which every lifetime that a window limits is over."""
    clocks = {node.stream: node.event_time for node in walk(plan) if isinstance(node, Scan)}
    batches = [batch for feed in feeds.values() for batch in feed.batches]
    rows = [(name, row) for name, feed in feeds.items() for batch in feed.batches for row in batch.rows]
    times = [row[clocks[name]] or 0 for name, row in rows if name in clocks]
    lengths = [each for node in walk(plan) for each in (getattr(node, "range", None), getattr(node, "every", None))]
    reach = sum(each.amount for each in lengths if each is not None and each.is_time)
    far = max([0, *times, *(batch.punctuation or 0 for batch in batches)]) + reach + 1
    count = max((len(feed.batches) for feed in feeds.values()), default=0)
    filled = {name: feed.batches + (FeedBatch(),) * (count - len(feed.batches)) for name, feed in feeds.items()}
    return {name: Feed((*own, FeedBatch((), far), FeedBatch())) for name, own in filled.items()}
