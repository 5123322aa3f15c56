"""What people see while a query runs: terminal, notebook, and what a run tells of itself."""
