"""Controlled watermarks: the gauge, the host of the controllers, their state and their accounts."""
