"""Rewriting plans: one rule per module, their order in RULES, a driver that records what fired."""

from slackwater.rewrite.driver import Rewritten, Step, rewrite
from slackwater.rewrite.rules import RULES

__all__ = ["RULES", "Rewritten", "Step", "rewrite"]
