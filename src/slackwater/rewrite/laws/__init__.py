"""The laws: one module and one function for each; docs/laws.md says when each holds."""
