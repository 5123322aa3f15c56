"""The command line: a thin shell over app.

A command imports what it does when it is called: help takes no longer than the terminal does.
"""
