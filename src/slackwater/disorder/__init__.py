"""Disorder control: estimators, the controller, the record store, replay and yardsticks."""
