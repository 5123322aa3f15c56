"""Tests of users' queries: pages of cases, run by the reference interpreter or by Spark.

cells        one cell of a table: text to value and back
tables       the tables of a case, with the place of every cell
page         a Markdown page: declarations, and the blocks that hold cases
case_reader  from a block of a page to a case
case         one case: a plan, its input as feeds, and the expected tables
engine       the names of the engines that can answer a case
answers      answers of the interpreter; on_spark: answers of Spark
differences  rows that were expected and not found, and the other way round
report       a difference as text
update       the page with the tables that were found
run          the cases of a page, one outcome each
"""
