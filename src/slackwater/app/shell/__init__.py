"""The shell without its prompt: the catalog, live answers, completion and history."""
