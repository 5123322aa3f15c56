"""What the commands do: run, explain, advise."""
