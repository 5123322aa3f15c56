"""Disorder control: the record store, and the experiments of the papers run again."""
