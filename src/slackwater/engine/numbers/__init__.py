"""Exact sums: numbers split into integers, tallies of these, and the aggregate functions over tallies."""
