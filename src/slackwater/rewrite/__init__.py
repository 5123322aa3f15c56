"""Plan rewriting: one rule per module, their order in RULES, and a driver that records which rules fired."""

from slackwater.rewrite.driver import Rewritten, Step, rewrite
from slackwater.rewrite.rules import RULES

__all__ = ["RULES", "Rewritten", "Step", "rewrite"]
