"""Exact sums: numbers taken apart into integers, tallies of them, and what functions make of a tally."""
