"""What the shell does with each statement: the catalog, live answers, completion and history."""
