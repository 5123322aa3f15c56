"""EMIT CHANGES over whole columns: positive temporal and negative tuples (APAS), a query as a tree of operators.

tree          the description of a query, as data
structures    what each operator keeps, by the class of its input: one table
log           tuples with lifetimes, and what begins and ends in one stretch of time
inputs        streams and incoming changelogs: late rows, refused rows
rowwise       range window, filter, map, union
living        the tuples of an edge that live
timeline      when anything happens to a group, and the best of what lives then
codes         keys as numbers, for as long as something with the key lives
shown         what was last sent for each group, and when something else has to be
best          MIN, MAX, FIRST, LAST, COUNT(DISTINCT) over lifetimes
calls         aggregate functions over lifetimes
chained       chains with final answers: subqueries, windows at boundaries
counted       windows in tuples, and windows that jump
aggregate, join, minus
kernel        `Changes`: a tree as one kernel
boundaries    answers that stand until the next boundary; `changelog_kernel`
partitioning  by which columns a tree can be taken apart into buckets
compress      the net change of a batch
profiles      the rows of a changelog as other systems write them
models        the same results under the two older models
"""
