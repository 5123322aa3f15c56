"""EMIT CHANGES: the operators over positive-temporal and negative tuples (APAS).

Time is discrete, and everything at one point in time happens at once: an operator first takes in all beginnings and
ends of a moment, then emits the resulting changes. So a tuple with an empty lifetime is never sent, and the order of
rows with the same time does not matter.
"""
