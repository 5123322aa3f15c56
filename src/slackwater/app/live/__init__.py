"""Displays of a running query: the terminal, notebooks, and the events that feed them."""
