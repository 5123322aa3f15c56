"""The commands as functions: run, explain, advise and the others."""
