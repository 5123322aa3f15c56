"""Recorded streams: read them, replay them through a controller, and compare the result with hindsight."""
