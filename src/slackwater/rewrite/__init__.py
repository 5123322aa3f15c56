"""Plan rewriting: one rule per module, their order in RULES, and a driver that records which rules fired."""

from slackwater.rewrite.driver import Firing, Rewritten, rewrite
from slackwater.rewrite.rules import RULES

__all__ = ["RULES", "Firing", "Rewritten", "rewrite"]
