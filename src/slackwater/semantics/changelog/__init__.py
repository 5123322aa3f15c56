"""EMIT CHANGES: the operators over positive-temporal and negative tuples (changelog.md, from APAS).

Time is discrete, and what happens at one point in time happens at once: an operator takes in everything that begins or
ends at a moment, then says what that changes. So a tuple that would have lived for no time is never sent, and the order
of rows with the same time does not matter.
"""
