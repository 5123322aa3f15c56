"""The reference interpreter: what a plan means, as plainly as Python allows."""
