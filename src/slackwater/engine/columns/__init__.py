"""Columns of Arrow and NumPy: arrays, keys as numbers, order, rows, and state in segments that are written once."""
