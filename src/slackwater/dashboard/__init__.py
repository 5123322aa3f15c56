"""The live dashboard: a thin shell over app."""
