"""Draws the pictures of the guide into docs/images/guide: `python -m tools.pictures`."""
