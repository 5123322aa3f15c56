"""Rewriting plans: one rule per module, their order in RULES, a driver that records what fired."""
