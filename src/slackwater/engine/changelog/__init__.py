"""EMIT CHANGES over whole columns: positive temporal and negative tuples (APAS), a query as a tree of operators.

tree          the description of a query, as data
structures    what each operator keeps, by the class of its input: one table
reading       from its JSON form to a tree, and what is wrong with one
log           tuples with lifetimes, and what begins and ends in one stretch of time
inputs        streams and incoming changelogs: late rows, refused rows
sequence      rows of several streams in the order of the language
waiting       changes of one input that wait for another
rowwise       range window, filter, map, union
living        the tuples of an edge that live
timeline      when anything happens to a group, and the best of what lives then
codes         keys as numbers, for as long as something with the key lives
shown         what was last sent for each group, and when something else has to be
best          MIN, MAX, FIRST, LAST, COUNT(DISTINCT) over lifetimes
calls         aggregate functions over lifetimes
numbers       the numbers of rows as a column
chained       chains with final answers: subqueries, windows at boundaries
counted       windows in tuples, and windows that jump
meeting       windows at boundaries that are read together
turns         pairs as the rows of a stream where a window counts rows
aggregate, join, minus
operators     from the nodes of a tree to the operators that are applied
kernel        `Changes`: a tree as one kernel
boundaries    answers that stand until the next boundary; `changelog_kernel`
partitioning  by which columns a tree can be taken apart into buckets
compress      the net change of a batch
profiles      the rows of a changelog as other systems write them
"""
