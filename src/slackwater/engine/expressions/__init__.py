"""Expressions between two operators of the engine, over whole columns."""
