"""Properties derived from a plan: columns, instants, key, order, locality, class, finality."""
