"""Plans as people read them: explained, optimised, as documents."""
