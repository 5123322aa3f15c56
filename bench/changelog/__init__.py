"""Changelogs: the three models side by side, and what compression costs."""
