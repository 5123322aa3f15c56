"""What both older models have in common: how a tree is gone through, and operators that look at one tuple at a time."""

from __future__ import annotations

from bench.changelog.older.terms import values
from slackwater.engine.plan import Over, children


class Model:
    """A tree over streams, given as names of columns and (time, row). `edges` are all that was sent.

    An edge is a pair of its columns and what was sent on it, of which each has a row.
    """

    def __init__(self, given):
        self.given = given
        self.edges = []

    def run(self, node):
        below = [self.run(each) for each in children(node)]
        what = node.step if isinstance(node, Over) else node
        kind = type(what).__name__.removesuffix("Step").removesuffix("Logs").lower()
        made = getattr(self, kind)(what, *below)
        self.edges.append(made)
        return made

    def filter(self, step, below):
        names, sent = below
        return below.of(names, [each for each in sent if values([step.condition], names, each.row)[0]])

    def project(self, step, below):
        names, sent = below
        trees = [item.tree for item in step.items]
        made = [each._replace(row=values(trees, names, each.row)) for each in sent]
        return below.of([item.name for item in step.items], made)

    def union(self, node, left, right):
        (names, one), (_, two) = left, right
        return left.of(names, one + two)
