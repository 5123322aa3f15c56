"""Tests of users' queries: pages of cases, run by the reference interpreter or by Spark.

cells        one cell of a table: text to value and back
tables       the tables of a case, with the place of every cell
page         a Markdown page: declarations, and the blocks that hold cases
case         one case: a plan, its input as feeds, and the tables that are expected
engine       the names of those who can answer a case
answers      what the interpreter answers; on_spark: what Spark does
differences  what was expected and not found, and the other way round
report       a difference as text
update       the page with the tables that were found
run          the cases of a page, one outcome each
"""
