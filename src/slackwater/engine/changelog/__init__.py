"""EMIT CHANGES over whole columns: positive-temporal and negative tuples (APAS). A query is a tree of operators.

`engine/plan.py` describes the tree as data.

structures    the table of what an operator keeps of each input, by the class of that input
log           tuples with lifetimes, and the changelog of one step
inputs        streams and incoming changelogs: late rows, refused rows
sequence      the order of the rows of several streams
waiting       changes of one input that wait for another
rowwise       range window, filter, map, union
living        the live tuples of an edge
timeline      the points at which a group changes, and the greatest live tuple at each
codes         the codes of keys with live tuples
shown         the result that was last sent for each group, and when the next is sent
best          MIN, MAX, FIRST, LAST, COUNT(DISTINCT) over lifetimes
calls         aggregate functions over lifetimes
chained       chains with final answers: subqueries, windows at boundaries
counted       windows of tuples, and jumping windows
meeting       windows at boundaries that are read together
turns         joins of windows that count rows, one instant per row
aggregate, join, minus
operators     builds the operators of a tree and applies them
kernel        `Changes`: a tree as one kernel
boundaries    answers that are valid until the next boundary; `changelog_kernel`
partitioning  the columns by which a tree can be split into buckets
compress      the net change of a batch
profiles      the rows of a changelog, as this and other systems write them
"""
