"""Recorded streams: how they are read, replayed through a controller, and compared with hindsight."""
