"""EMIT CHANGES over whole columns: positive-temporal and negative tuples (APAS). A query is a tree of operators.

`engine/plan.py` describes the tree as data.

log           tuples with lifetimes, the changelog of one step, the net change of a batch
inputs        streams and incoming changelogs: refused rows, order, changes that wait for another input
living        the live tuples of an edge, by the class of the edge
timeline      the points at which a group changes, and the results that are sent there
aggregate, join, minus
counted       windows of tuples, jumping windows, and joins of these
chained       subqueries with final answers, and windows at boundaries that are read together
operators     builds the operators of a tree and applies them
kernel        the kernel of a tree, or of a chain whose answers come at boundaries
partitioning  the columns by which a tree can be split into buckets
profiles      the rows of a changelog, as this and other systems write them
"""
