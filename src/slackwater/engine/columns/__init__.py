"""Columns of Arrow and NumPy: arrays, key codes, sort orders, rows, and state in segments that are written once."""
