"""The command line: a thin shell over app.

A command imports its code when it is called, so that `--help` is quick.
"""
