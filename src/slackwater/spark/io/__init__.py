"""Sources and sinks, and the columns and options that a declaration gives them."""
