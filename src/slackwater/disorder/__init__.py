"""Disorder control: estimators, the controller, the record store, replay and yardsticks.

Importing this package registers every estimator in ``ESTIMATORS``.
"""

from slackwater.disorder.budget import estimator as budget  # noqa: F401
from slackwater.disorder.controller import Controller, ControllerCounts, controller
from slackwater.disorder.estimator import ESTIMATORS, NO_PUNCTUATION, Estimator
from slackwater.disorder.papers import adaptive, adhoc, max_delay, periodic, quantile, slack, two_max  # noqa: F401

__all__ = ["ESTIMATORS", "NO_PUNCTUATION", "Controller", "ControllerCounts", "Estimator", "controller"]
